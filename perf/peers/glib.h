// GLib: g_thread_pool_push() to an exclusive pool. Such a pool has one function, which gets what was pushed; where a
// workload submits several, a pair of function and argument is pushed.
#pragma once

#include <glib.h>

#include "pool.h"

namespace perf {

class Glib {
  public:
    static constexpr const char *name = "glib";
    static constexpr bool any_thread = true;
    explicit Glib(unsigned workers, TaskFn fn = nullptr)
        : fn_(fn), pool_(g_thread_pool_new(fn ? run_one : run_pair, this, static_cast<int>(workers), TRUE, nullptr)) {}
    ~Glib() { g_thread_pool_free(pool_, FALSE, TRUE); }
    void submit(TaskFn fn, void *arg) { g_thread_pool_push(pool_, fn_ ? arg : new Pair{fn, arg}, nullptr); }

  private:
    struct Pair {
        TaskFn fn;
        void *arg;
    };
    static void run_one(gpointer arg, gpointer self) { static_cast<Glib *>(self)->fn_(arg); }
    static void run_pair(gpointer data, gpointer) {
        Pair pair = *static_cast<Pair *>(data);
        delete static_cast<Pair *>(data);
        pair.fn(pair.arg);
    }

    TaskFn fn_;
    GThreadPool *pool_;
};

}  // namespace perf
