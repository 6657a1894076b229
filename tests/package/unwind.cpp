// A host that throws and catches, before and after libunwind has come into its process: tests/package/unwind looks at
// who serves it. usage: unwind UNWINDER LIBRARY_THAT_THROWS ANOTHER
#include <dlfcn.h>
#include <homecooking/homecooking.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#ifdef INSIDE  // linked with the static library, whose core can be called
#include "observe/stack.h"
#include "observe/symbol.h"
#include "sync/clock.h"
#endif

#define CHECK(condition)                                                              \
    do {                                                                              \
        if (condition) break;                                                         \
        fprintf(stderr, "%s:%d: CHECK failed: %s\n", __FILE__, __LINE__, #condition); \
        abort();                                                                      \
    } while (0)

namespace {

struct Counts {
    explicit Counts(int *n) : n_(n) {}
    ~Counts() { ++*n_; }
    int *n_;
};

int destroyed = 0;

__attribute__((noinline)) void deep(int n) {
    const Counts c(&destroyed);
    if (n == 0) throw std::runtime_error("deep");
    deep(n - 1);
    destroyed += 1000;  // not reached
}

void throws_and_catches() {
    destroyed = 0;
    bool caught = false;
    try {
        deep(9);
    } catch (const std::exception &e) {
        caught = e.what() == std::string("deep");
    }
    CHECK(caught && destroyed == 10);
    try {
        try {
            throw 1;
        } catch (int) {
            throw;
        }
    } catch (...) {
        destroyed++;
    }
    CHECK(destroyed == 11);
}

std::atomic<int> undone{0};
void undo(void *) { undone++; }
void *exits(void *) {
    pthread_cleanup_push(undo, nullptr);
    pthread_exit(nullptr);
    pthread_cleanup_pop(0);
    return nullptr;
}
void *waits(void *) {
    pthread_cleanup_push(undo, nullptr);
    for (;;) pthread_testcancel();
    pthread_cleanup_pop(0);
    return nullptr;
}
// The other users of an unwinder.
void threads_are_unwound() {
    undone = 0;
    pthread_t a, b;
    CHECK(pthread_create(&a, nullptr, exits, nullptr) == 0 && pthread_create(&b, nullptr, waits, nullptr) == 0);
    CHECK(pthread_cancel(b) == 0);
    CHECK(pthread_join(a, nullptr) == 0 && pthread_join(b, nullptr) == 0);
    CHECK(undone == 2);
}

void a_library_throws(const char *path) {
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) fprintf(stderr, "%s\n", dlerror());
    CHECK(handle != nullptr);
    int (*f)(int);
    *reinterpret_cast<void **>(&f) = dlsym(handle, "throws_inside");
    CHECK(f != nullptr && f(3) == 3);
}

void task(void *p) {
    throws_and_catches();
    static_cast<std::atomic<bool> *>(p)->store(true);
}

}  // namespace

int main(int argc, char **argv) {
    CHECK(argc == 4);
    throws_and_catches();
    a_library_throws(argv[2]);
    const bool able = (hc_features() & HC_FEATURE_STACKS) != 0;
    CHECK(hc_signal_set(0, SIGURG) == (able ? 0 : int{HC_ENOTSUP}));
    hc_group *g;
    std::atomic<bool> ran{false};
    CHECK(hc_group_create(&g, nullptr) == 0 && hc_submit(g, task, &ran) == 0 && hc_group_drain(g, HC_NEVER) == 0 &&
          ran);
#ifdef INSIDE
    if (able) {
        uintptr_t frames[50];
        uint32_t n = 0;
        for (int i = 0; i < 3; i++) {
            CHECK(hc::take_stack(hc::thread_id(), hc::after(20'000'000'000), frames, 50, &n) == hc::Stack::kTaken);
            CHECK(n > 2);
            throws_and_catches();
        }
        char text[200];
        hc::symbol(frames[0], text, sizeof text);
        puts(text);
    }
#endif
    throws_and_catches();
    // A host with libunwind cannot do that, with us or without: the C library takes libgcc's unwinder, the C++ runtime
    // then speaks to libunwind's.
    if (std::string(argv[1]) != "libunwind") threads_are_unwound();
    a_library_throws(argv[3]);  // another: it is bound now
    CHECK(hc_group_destroy(g) == 0);
    puts(able ? "stacks" : "no stacks");
}
