// workqueue TYPE THREADS TASKS: the program of the work-queue article. TYPE is 1 (one shared queue), 2 (a queue for
// each thread) or 3 (the same with stealing). One thread assigns TASKS products of 10x10 matrices; prints what it took.
#include <charconv>
#include <cstdio>
#include <cstring>

#include "peers/hc.h"
#include "workloads/matmul.h"

namespace {

bool number(const char *text, unsigned &out) {
    auto [end, error] = std::from_chars(text, text + std::strlen(text), out);
    return error == std::errc{} && *end == 0 && out > 0;
}

template <class P>
double milliseconds(unsigned threads, unsigned tasks) {
    perf::Matmul work;
    P pool(threads);
    return work.run(tasks, [&](perf::TaskFn fn, void *arg) { pool.submit(fn, arg); });
}

}  // namespace

int main(int argc, char **argv) {
    unsigned type = 0, threads = 0, tasks = 0;
    if (argc != 4 || !number(argv[1], type) || type > 3 || !number(argv[2], threads) || !number(argv[3], tasks)) {
        std::fputs(
            "usage: workqueue TYPE THREADS TASKS\n"
            "  TYPE  1 one shared queue, 2 a queue for each thread, 3 a queue for each with stealing\n",
            stderr);
        return 2;
    }
    double took = type == 1   ? milliseconds<perf::HcShared>(threads, tasks)
                  : type == 2 ? milliseconds<perf::HcPinned>(threads, tasks)
                              : milliseconds<perf::Hc>(threads, tasks);
    std::printf("type %u, %u threads, %u tasks: %.1f ms\n", type, threads, tasks, took);
    return 0;
}
