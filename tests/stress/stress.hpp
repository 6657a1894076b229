// stress.hpp - what the stress tests share: sizes that fit a sanitizer, a group as an object, counting allocator hooks,
// and the list of worker counts and spins that each test runs under.
//
// No test asserts a time, none sleeps to create an order: it counts, waits for what must come, and leaves hanging to
// the deadline of the program (main.cpp).
#pragma once

#include <gtest/gtest.h>
#include <homecooking/homecooking.h>
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace stress {

#if defined(__SANITIZE_THREAD__)
constexpr bool under_tsan = true, under_asan = false;
#elif defined(__SANITIZE_ADDRESS__)
constexpr bool under_tsan = false, under_asan = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
constexpr bool under_tsan = true, under_asan = false;
#elif __has_feature(address_sanitizer)
constexpr bool under_tsan = false, under_asan = true;
#else
constexpr bool under_tsan = false, under_asan = false;
#endif
#else
constexpr bool under_tsan = false, under_asan = false;
#endif

// n, or less of it where everything takes longer.
constexpr int scaled(int n) { return under_tsan ? (n + 9) / 10 : under_asan ? (n + 3) / 4 : n; }

constexpr uint32_t batch = 256;  // the header's figure: the most tasks that a worker takes from one lane at a time

// Asks until it is so. Only for states that nobody announces.
template <class Condition>
void until(Condition &&condition) {
    while (!condition()) sched_yield();
}

// ---- Groups -------------------------------------------------------------------------------------------------------

struct shape {
    uint32_t workers;
    uint32_t spin;  // 0: the default

    hc_group_options options() const {
        hc_group_options o = HC_GROUP_OPTIONS_INIT;
        o.max_workers = workers;
        if (spin == HC_NONE32) o.min_workers = workers;  // the others breathe
        o.stuck_after = HC_NONE64;  // who is held stays one of the workers
        if (workers == 1) o.stuck_after = 0;
        o.spin = spin;
        return o;
    }
    hc_group_options fixed() const {
        hc_group_options o = options();
        o.min_workers = workers;
        return o;
    }
};

inline std::ostream &operator<<(std::ostream &out, const shape &s) {
    return out << s.workers << " workers, spin " << (s.spin == HC_NONE32 ? "none" : "default");
}

inline auto shapes() {
    return testing::Values(shape{1, 0}, shape{1, HC_NONE32}, shape{2, 0}, shape{2, HC_NONE32}, shape{3, 0},
                           shape{3, HC_NONE32}, shape{8, 0}, shape{8, HC_NONE32}, shape{64, 0}, shape{64, HC_NONE32});
}

inline auto shapes_of_several_workers() {
    return testing::Values(shape{2, 0}, shape{2, HC_NONE32}, shape{3, 0}, shape{3, HC_NONE32}, shape{8, 0},
                           shape{8, HC_NONE32}, shape{64, 0}, shape{64, HC_NONE32});
}

inline std::string name_of(const testing::TestParamInfo<shape> &info) {
    return std::to_string(info.param.workers) + "w_" + (info.param.spin == HC_NONE32 ? "nospin" : "spin");
}

class Shaped : public testing::TestWithParam<shape> {};

// A group that is destroyed (drained) at the end, unless someone took it away.
class group {
  public:
    explicit group(const hc_group_options &options) {
        int rc = hc_group_create(&g_, &options);
        if (rc != HC_OK) ADD_FAILURE() << "hc_group_create: " << hc_errname(rc);
    }
    explicit group(shape s) : group(s.options()) {}
    group(const group &) = delete;
    ~group() {
        if (g_ != nullptr) hc_group_destroy(g_);
    }
    operator hc_group *() const { return g_; }
    hc_group *release() { return std::exchange(g_, nullptr); }

  private:
    hc_group *g_ = nullptr;
};

inline hc_group_stats_data stats(const hc_group *g) {
    hc_group_stats_data data{};
    int rc = hc_group_stats(g, &data, sizeof data);
    if (rc != HC_OK) ADD_FAILURE() << "hc_group_stats: " << hc_errname(rc);
    return data;
}

// A submit that may not fail, from any thread: googletest's own failures are for the test's thread, this one ends it
// all.
inline void must(int rc, const char *what) {
    if (rc == HC_OK) return;
    std::fprintf(stderr, "%s: %s\n", what, hc_errname(rc));
    std::fflush(nullptr);
    std::abort();
}

inline void submit(hc_group *g, hc_fn fn, void *arg) { must(hc_submit(g, fn, arg), "hc_submit"); }

inline void drain(hc_group *g) { must(hc_group_drain(g, HC_NEVER), "hc_group_drain"); }

// Says who is inside, and holds him until released.
struct hold {
    std::atomic<uint32_t> inside{0};
    std::latch go{1};

    static void task(void *self) {
        auto *h = static_cast<hold *>(self);
        h->inside.fetch_add(1);
        h->go.wait();
    }
    // One task for each worker; returns when all of them are inside.
    void all(hc_group *g, uint32_t workers) {
        for (uint32_t i = 0; i < workers; ++i) submit(g, task, this);
        until([&] { return inside.load() == workers; });
    }
    void release() { go.count_down(); }
};

// ---- Memory -------------------------------------------------------------------------------------------------------

// What the library has asked for, through its allocator hooks; for programs that call install() before the first group.
struct memory {
    static inline std::atomic<int64_t> bytes{0}, blocks{0}, requests{0};

    static void *alloc(size_t size, size_t align, void *) {
        void *p = nullptr;
        if (posix_memalign(&p, align < sizeof(void *) ? sizeof(void *) : align, size) != 0) return nullptr;
        bytes.fetch_add(static_cast<int64_t>(size), std::memory_order_relaxed);
        blocks.fetch_add(1, std::memory_order_relaxed);
        requests.fetch_add(1, std::memory_order_relaxed);
        return p;
    }
    static void free(void *p, size_t size, size_t, void *) {
        if (p == nullptr) return;
        bytes.fetch_sub(static_cast<int64_t>(size), std::memory_order_relaxed);
        blocks.fetch_sub(1, std::memory_order_relaxed);
        std::free(p);
    }
    static void install() { must(hc_allocator_set(alloc, free, nullptr), "hc_allocator_set"); }
};

// Threads with a small stack, for when there are thousands. Joined at the end of the scope.
class small_threads {
  public:
    ~small_threads() { join(); }

    // False if the system has no more.
    bool start(void *(*body)(void *), void *arg) {
        pthread_attr_t attr;
        pthread_attr_init(&attr);
        pthread_attr_setstacksize(&attr, under_asan || under_tsan ? 1 << 18 : 1 << 16);
        pthread_t id;
        int error = pthread_create(&id, &attr, body, arg);
        pthread_attr_destroy(&attr);
        if (error == 0) ids_.push_back(id);
        return error == 0;
    }
    void join() {
        for (pthread_t id : ids_) pthread_join(id, nullptr);
        ids_.clear();
    }

  private:
    std::vector<pthread_t> ids_;
};

}  // namespace stress
