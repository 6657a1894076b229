// A measuring program in a process of its own: a peer in another language, or this program itself where memory,
// idleness or another build of the library is measured. It reads one request a line on stdin, and answers each with one
// line of numbers on stdout. The end of its stdin ends it.
#pragma once

#include <string>
#include <vector>

#include "rounds.h"

namespace perf {

using Words = std::vector<std::string>;

class Child {
  public:
    explicit Child(const Words &command, const Words &extra_environment = {});
    ~Child();
    Child(const Child &) = delete;
    Child &operator=(const Child &) = delete;

    void send(const std::string &request);
    Sample receive();  // fails after `patience`
    Sample ask(const std::string &request) {
        send(request);
        return receive();
    }

  private:
    std::string name_, unread_;
    int pid_ = -1, to_ = -1, from_ = -1;
};

// The command that starts this program as a child.
Words this_program_serving();

}  // namespace perf
