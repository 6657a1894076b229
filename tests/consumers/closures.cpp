// A C++17 program over the bare C API: closures in boxes. Each runs once, or is dropped once; an exception that a task
// throws and catches itself is none of the library's business.
#include <homecooking/homecooking.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

std::atomic<int> ran{0}, dropped{0}, handed_back{0};

struct token {  // counts the end of the closure that holds it
    token() = default;
    token(const token &) = delete;
    ~token() { ++dropped; }
};

using closure = std::function<void()>;

void run(void *arg) {
    std::unique_ptr<closure> f(static_cast<closure *>(arg));
    (*f)();
}

void drop(void *arg, int32_t) {
    std::unique_ptr<closure> f(static_cast<closure *>(arg));
    ++handed_back;
}

void unrun(void *, hc_fn, void *arg, int32_t why) { drop(arg, why); }

hc_call boxed(closure f) { return {run, new closure(std::move(f))}; }

closure counted() {
    return [t = std::make_shared<token>()] { ++ran; };
}

void check(bool fine, const char *what) {
    if (fine) return;
    std::fprintf(stderr, "failed: %s\n", what);
    std::exit(1);
}

}  // namespace

int main() {
    constexpr int n = 1000;
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.max_workers = 1;
    options.on_unrun = unrun;
    hc_group *g = nullptr;
    check(hc_group_create(&g, &options) == HC_OK, "create");

    std::vector<hc_call> calls;
    for (int i = 0; i < n; ++i) calls.push_back(boxed(counted()));
    size_t accepted = 0;
    check(hc_submit_batch(g, calls.data(), calls.size(), &accepted) == HC_OK && accepted == n, "batch");
    check(hc_group_drain(g, HC_NEVER) == HC_OK, "drain");
    check(ran == n && dropped == n && handed_back == 0, "each ran and was dropped once");

    // A task that throws and catches.
    std::atomic<bool> caught{false};
    hc_call thrower = boxed([&] {
        try {
            throw std::runtime_error("inside");
        } catch (const std::exception &) {
            caught = true;
        }
    });
    check(hc_submit(g, thrower.fn, thrower.arg) == HC_OK && hc_group_drain(g, HC_NEVER) == HC_OK, "thrower");
    check(caught, "a task may throw and catch");

    // The worker is held; what is queued behind is handed back.
    std::atomic<bool> inside{false}, leave{false};
    hc_call holder = boxed([&] {
        inside = true;
        while (!leave) std::this_thread::yield();
    });
    check(hc_submit(g, holder.fn, holder.arg) == HC_OK, "holder");
    while (!inside) std::this_thread::yield();
    calls.clear();
    for (int i = 0; i < n; ++i) calls.push_back(boxed(counted()));
    check(hc_submit_batch(g, calls.data(), calls.size(), &accepted) == HC_OK, "second batch");
    hc_task_options task = HC_TASK_OPTIONS_INIT;
    for (int i = 0; i < n; ++i) {
        hc_call c = boxed(counted());
        task.fn = c.fn;
        task.arg = c.arg;
        task.drop = drop;
        check(hc_task_submit(g, &task, nullptr) == HC_OK, "task");
    }
    check(hc_group_shutdown(g, HC_SHUTDOWN_NOW) == HC_OK, "shutdown");
    leave = true;
    check(hc_group_destroy(g) == HC_OK, "destroy");
    check(ran == n && handed_back == 2 * n && dropped == 3 * n, "each was handed back and dropped once");
    return 0;
}
