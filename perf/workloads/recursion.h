// What a recursion of W5 is, and what its systems need. Each stands in a file of its own, written once for each system,
// in the way that the system's own documentation writes recursions:
//
//     direct    plain recursion
//     hc        hc_fork_push_fast() and its joins; where one call is forked, in the style of the manual's example
//     hc_calls  hc_fork_push() and hc_fork_join(), as from another language
//     tbb       task_group, run() and wait()
//     omp       task, taskwait
//     lace      SPAWN, CALL, SYNC; they are in peers/lace.c, all four
//
// They are functions of one file, and of no header: how far a compiler unrolls a recursion into itself depends on what
// else is in the file.
#pragma once

#include <homecooking/homecooking.h>

#include <cstdint>
#include <memory>
#include <string>

#include "../peers/lace_forks.h"
#include "serial_parts.h"

#ifdef PERF_HAVE_TBB
#include <oneapi/tbb/task_group.h>
#endif

namespace perf {

struct Recursion {
    std::string name;
    uint64_t forks = 0;    // in one computation
    unsigned repeats = 1;  // computations in one measurement, where one takes less than some milliseconds

    virtual ~Recursion() = default;
    virtual void prepare() {}  // before a measurement
    virtual bool right(long result) const = 0;

    virtual long direct() = 0;
    virtual long hc(hc_worker *w) = 0;
    virtual long hc_calls(hc_worker *w) = 0;
    virtual long tbb() = 0;
    virtual long omp() = 0;
#ifdef PERF_HAVE_LACE
    virtual lace_answer lace() = 0;  // all repeats
#endif
};

std::unique_ptr<Recursion> make_fib(bool quick);
std::unique_ptr<Recursion> make_queens(bool quick);
std::unique_ptr<Recursion> make_skynet(bool quick);
std::unique_ptr<Recursion> make_quicksort(bool quick);

}  // namespace perf
