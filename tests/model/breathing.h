// A group that starts and ends its own workers, by the real code: up to four of them, besides the scenario's threads.
#ifndef HC_MODEL_BREATHING_H
#define HC_MODEL_BREATHING_H
#include "timed.h"
namespace hc::model {

template <int Tasks, int Threads = 2>
struct Breathing : Staged<Threads + 1, Tasks, 4> {
    int withheld = 0;  // threads that the system has not, until all is over
    Atomic<int> ready;

    Breathing() { this->options.keep_alive = 2; }
    virtual void run(unsigned i) = 0;
    void thread(unsigned i) override {
        if (i < Threads) return run(i);
        // To relacy, a thread that is never started hangs.
        this->over.wait();
        threads_again();
        Thread t;
        while (machine.threads_left > 0) thread_start(&t, [](void *) -> void * { return nullptr; }, nullptr, 0);
    }
    // The first thread creates the group, the others wait for it.
    void created(uint32_t least, uint32_t most, uint32_t spares = 0) {
        this->create(least, most, spares);
        machine.threads_left -= withheld;
        ready.store(1, memory_order_release);
    }
    void await_creation() {
        while (ready.load(memory_order_acquire) == 0) yield();
    }
    void threads_again() {
        machine.threads_left = std::max(machine.threads_left, 0) + std::exchange(withheld, 0);
        machine.ticks += 200'000'000;  // the group tries again after some time
    }
    // Whatever else is to come, comes soon: this looks at the clock.
    void pass(uint64_t ticks) {
        const uint64_t until = machine.ticks + ticks;
        while (hc::now() < until) yield();
    }
};

// As the sentinel does.
template <class S>
void retry_until_over(S &s) {
    while (!s.over.met) {
        machine.ticks += 100'000'000;
        if (s.g->stuck.retry_at_ != kNever) s.g->stuck.retry(*s.g);
        yield();
    }
}

}  // namespace hc::model
#endif
