// Threads to be asked for their stacks: each does one thing, in a function whose name is exported, until it is told to
// stop.
#pragma once
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "observe/stack.h"
#include "observe/symbol.h"
#include "sync/clock.h"

#ifdef __has_feature
#define UNIT_HAS(feature) __has_feature(feature)
#else
#define UNIT_HAS(feature) 0
#endif
// TSan keeps a signal until the thread comes by, and then calls the handler with registers that are long gone: a copy
// is taken, and what follows from it is never wrong memory, but it need not be the stack.
#if defined(__SANITIZE_THREAD__) || UNIT_HAS(thread_sanitizer)
constexpr bool kSignalsAreLate = true;
#else
constexpr bool kSignalsAreLate = false;
#endif
#if defined(__SANITIZE_ADDRESS__) || UNIT_HAS(address_sanitizer)
constexpr bool kSlow = true;
#else
constexpr bool kSlow = kSignalsAreLate;
#endif

#define NAMED extern "C" __attribute__((noinline, visibility("default")))

constexpr uint64_t kSecond = 1'000'000'000;
constexpr int kSignal = SIGURG;

inline bool lend() {
    static const hc::Lend lent = hc::lend_dump_signal(kSignal, hc::stack_handler());
    return lent == hc::Lend::kOk;
}
// Without libunwind there is nothing to be tested but that it says so.
#define NEEDS_STACKS()                                                  \
    if (hc::stack_handler() == nullptr) GTEST_SKIP() << "no libunwind"; \
    ASSERT_TRUE(lend())

class Subject {
  public:
    using Body = void (*)(const std::atomic<bool> &stop);
    explicit Subject(Body body)
        : thread_([this, body] {
              id_ = hc::thread_id();
              body(stop_);
              ended_ = true;
          }) {
        while (id_ == 0) std::this_thread::yield();
    }
    ~Subject() { end(); }
    void end() {
        stop_ = true;
        if (thread_.joinable()) thread_.join();
    }
    int32_t id() const { return id_; }

  private:
    std::atomic<bool> stop_{false}, ended_{false};
    std::atomic<int32_t> id_{0};
    std::thread thread_;
};

struct Taken {
    hc::Stack result;
    bool cut;
    std::vector<uintptr_t> frames;
    std::string names;
    bool in(const char *function) const {
        return names.find(std::string("\n") + function + "+0x") != std::string::npos;
    }
};

inline Taken name_all(const hc::StackOf &of) {
    Taken t{of.result, of.cut, std::vector<uintptr_t>(of.frames, of.frames + of.n), "\n"};
    for (uintptr_t ip : t.frames) {
        char line[300];
        hc::symbol(ip, line, sizeof line);
        t.names += std::string(line) + "\n";
    }
    return t;
}

inline Taken take(int32_t thread, uint64_t timeout = 20 * kSecond, uint32_t most = 200) {
    std::vector<uintptr_t> frames(most);
    hc::StackOf of{thread, most, frames.data()};
    hc::take_stacks(&of, 1, hc::after(timeout));
    return name_all(of);
}

// Until the thread has come to where it is going.
inline Taken take_in(int32_t thread, const char *function) {
    for (;;) {
        Taken t = take(thread);
        if (t.result != hc::Stack::kTaken || t.in(function) || kSignalsAreLate) return t;
    }
}
