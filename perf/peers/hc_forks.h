// Where a benchmark forks: a task of a group, or an outside thread that has entered it.
#pragma once

#include "hc.h"

namespace perf {

// Calls f(place) in a task of the group. The caller sleeps until it has ended.
template <class F>
void run_inside(HcGroup &pool, F f) {
    pool.submit(
        [](void *arg) {
            hc_worker *place = hc_worker_self();
            if (!place) fail("hc_worker_self: no place to fork");
            (*static_cast<F *>(arg))(place);
        },
        &f);
    hc_group_drain(pool.group(), HC_NEVER);
}

// The thread that makes it may fork while it lives.
class Entered {
  public:
    explicit Entered(HcGroup &pool) {
        if (int error = hc_worker_enter(pool.group(), &place_); error < 0)
            fail(std::string("hc_worker_enter: ") + hc_strerror(error));
    }
    ~Entered() { hc_worker_leave(place_); }
    Entered(const Entered &) = delete;
    Entered &operator=(const Entered &) = delete;

    hc_worker *place() const { return place_; }

  private:
    hc_worker *place_ = nullptr;
};

}  // namespace perf
