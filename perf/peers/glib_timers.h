// GLib: a timeout source for each call, attached to the context of a main loop that one thread runs. Its timers count
// in milliseconds, from a clock in whole microseconds: the delay is rounded up so that none is early.
#pragma once

#include <glib.h>

#include <thread>

#include "timers.h"

namespace perf {

class GlibTimers {
  public:
    static constexpr const char *name = "glib";
    static constexpr bool one_loop = true;
    explicit GlibTimers(unsigned)
        : context_(g_main_context_new()),
          loop_(g_main_loop_new(context_, FALSE)),
          thread_([this] { g_main_loop_run(loop_); }) {}
    ~GlibTimers() {
        schedule([](void *loop) { g_main_loop_quit(static_cast<GMainLoop *>(loop)); }, loop_, 0);
        thread_.join();
        g_main_loop_unref(loop_);
        g_main_context_unref(context_);
    }
    void schedule(TaskFn fn, void *arg, uint64_t delay) {
        GSource *source = g_timeout_source_new(static_cast<guint>((delay + 1'000) / 1'000'000 + 1));
        g_source_set_callback(source, fire, new Call{fn, arg}, [](gpointer call) { delete static_cast<Call *>(call); });
        g_source_attach(source, context_);
        g_source_unref(source);
    }

  private:
    struct Call {
        TaskFn fn;
        void *arg;
    };
    static gboolean fire(gpointer data) {
        auto *call = static_cast<Call *>(data);
        call->fn(call->arg);
        return G_SOURCE_REMOVE;
    }

    GMainContext *context_;
    GMainLoop *loop_;
    std::thread thread_;
};

}  // namespace perf
