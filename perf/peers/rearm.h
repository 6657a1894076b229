// Timers that are changed again and again, by one thread, and never fire; W2 asks what that costs. An adapter:
//
//     R(count, delay)    makes that many timers and arms them
//     arm(i, delay)      timer i counts anew
//     replace(i, delay)  timer i is cancelled and freed, and a new one armed in its place
//     pass()             optional, called after every `count` calls: lets a loop do what it was left with
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../harness/fail.h"
#include "hc_timers.h"
#ifdef PERF_HAVE_ASIO
#include "asio_timers.h"
#endif
#ifdef PERF_HAVE_UV
#include <uv.h>
#endif

namespace perf {

// A group of 2 workers; hc_timer_arm().
class HcRearm {
  public:
    static constexpr const char *name = "hc";
    HcRearm(size_t count, uint64_t delay) : timers_(count) {
        for (hc_timer *&t : timers_) t = create(delay);
    }
    ~HcRearm() {
        for (hc_timer *t : timers_) hc_timer_unref(t);
    }
    void arm(size_t i, uint64_t delay) {
        if (hc_timer_arm(timers_[i], delay, 0) != HC_REMOVED) [[unlikely]]
            fail("hc_timer_arm: a timer was not pending");
    }
    void replace(size_t i, uint64_t delay) {
        hc_timer_cancel(timers_[i]);
        hc_timer_unref(timers_[i]);
        timers_[i] = create(delay);
    }

  private:
    hc_timer *create(uint64_t delay) { return create_hc_timer(group_.group(), delay); }

    Hc group_{2};
    std::vector<hc_timer *> timers_;
};

#ifdef PERF_HAVE_ASIO
// expires_after() ends the wait of before, so there is a new one; the handlers of those that ended run in pass().
class AsioRearm {
  public:
    static constexpr const char *name = "asio";
    AsioRearm(size_t count, uint64_t delay) : context_(1), timers_(count) {
        for (size_t i = 0; i < count; ++i) replace(i, delay);
    }
    void arm(size_t i, uint64_t delay) {
        timers_[i]->expires_after(std::chrono::nanoseconds(delay));
        timers_[i]->async_wait([](const asio::error_code &) {});
    }
    void replace(size_t i, uint64_t delay) {
        timers_[i] = std::make_unique<asio::steady_timer>(context_);
        arm(i, delay);
    }
    void pass() { context_.poll(); }

  private:
    asio::io_context context_;
    std::vector<std::unique_ptr<asio::steady_timer>> timers_;
};
#endif

#ifdef PERF_HAVE_UV
// uv_timer_start() on a timer that is active. The caller is the thread of the loop: there is nothing to hand over.
class UvRearm {
  public:
    static constexpr const char *name = "uv";
    UvRearm(size_t count, uint64_t delay) : timers_(count) {
        uv_loop_init(&loop_);
        for (uv_timer_t *&t : timers_) t = create(delay);
    }
    ~UvRearm() {
        for (uv_timer_t *t : timers_) close(t);
        uv_run(&loop_, UV_RUN_DEFAULT);
        uv_loop_close(&loop_);
    }
    void arm(size_t i, uint64_t delay) { start(timers_[i], delay); }
    void replace(size_t i, uint64_t delay) {
        close(timers_[i]);
        timers_[i] = create(delay);
    }
    void pass() { uv_run(&loop_, UV_RUN_NOWAIT); }

  private:
    static void start(uv_timer_t *t, uint64_t delay) {
        uv_timer_start(
            t, [](uv_timer_t *) {}, delay / 1'000'000, 0);
    }
    uv_timer_t *create(uint64_t delay) {
        auto *t = new uv_timer_t;
        uv_timer_init(&loop_, t);
        start(t, delay);
        return t;
    }
    static void close(uv_timer_t *t) {
        uv_close(reinterpret_cast<uv_handle_t *>(t), [](uv_handle_t *h) { delete reinterpret_cast<uv_timer_t *>(h); });
    }

    uv_loop_t loop_;
    std::vector<uv_timer_t *> timers_;
};
#endif

// f(std::type_identity<R>{}) for each, ours first.
template <class F>
void each_rearm(F &&f) {
    f(std::type_identity<HcRearm>{});
#ifdef PERF_HAVE_ASIO
    f(std::type_identity<AsioRearm>{});
#endif
#ifdef PERF_HAVE_UV
    f(std::type_identity<UvRearm>{});
#endif
}

}  // namespace perf
