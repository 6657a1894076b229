#include "child.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <sstream>

#include "fail.h"

namespace perf {

Child::Child(const Words &command, const Words &extra_environment) : name_(command.at(0)) {
    std::signal(SIGPIPE, SIG_IGN);  // a dead child is reported by receive()
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) fail("no pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);

    std::vector<char *> argv, env;
    for (const std::string &s : command) argv.push_back(const_cast<char *>(s.c_str()));
    for (const std::string &s : extra_environment)  // before ours: the first of two equal names counts
        env.push_back(const_cast<char *>(s.c_str()));
    for (char **e = environ; *e; ++e) env.push_back(*e);
    argv.push_back(nullptr);
    env.push_back(nullptr);
    if (posix_spawnp(&pid_, name_.c_str(), &actions, nullptr, argv.data(), env.data()) != 0)
        fail("cannot start " + name_);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    to_ = in[1];
    from_ = out[0];
}

Child::~Child() {
    close(to_);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    close(from_);
}

void Child::send(const std::string &request) {
    const std::string line = request + "\n";
    if (write(to_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
        fail(name_ + " does not take requests");
}

Sample Child::receive() {
    size_t end;
    while ((end = unread_.find('\n')) == std::string::npos) {
        pollfd ready{from_, POLLIN, 0};
        if (poll(&ready, 1, static_cast<int>(patience / 1'000'000)) <= 0) fail(name_ + " does not answer");
        char buffer[4096];
        ssize_t n = read(from_, buffer, sizeof buffer);
        if (n <= 0) fail(name_ + " ended early");
        unread_.append(buffer, static_cast<size_t>(n));
    }
    std::istringstream line(unread_.substr(0, end));
    unread_.erase(0, end + 1);
    Sample sample;
    for (double v; line >> v;) sample.push_back(v);
    if (!line.eof()) fail(name_ + " answers: " + line.str());
    return sample;
}

Words this_program_serving() {
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path);
    if (n <= 0) fail("cannot find my own executable");
    return {std::string(path, static_cast<size_t>(n)), "--serve"};
}

}  // namespace perf
