// Timers (src/timer/timer.h, src/group/timers.cpp, timer_life.cpp, watch.h): each fires or is handed back once, whoever armed it
// first or last; nobody sleeps past one; nothing is touched after its last reference. Time passes when somebody looks at the clock;
// a sleep until a far time never ends by itself.
#include "model.h"
//
#include "staged.h"

using namespace hc;
using namespace hc::model;

namespace {

constexpr uint64_t kFarOff = uint64_t{1} << 30;

template <int Threads, int Tasks>
struct Timed : Staged<Threads, Tasks> {
    Timed() { this->shut_down_at_end = false; }
    void later(int i, uint64_t delay) {
        const uint64_t at = hc::now();
        CHECK(schedule(this->g, this->entry(i), at + delay, at) == Submit::kOk);
    }
    void close() { this->g->shutdown(false); }
};

// A worker sleeps, or is about to, for a far timer. An earlier one is armed.
template <int Workers>
struct Earlier : Timed<1 + Workers, 3> {
    Earlier() { this->build(Workers); }
    void begun() override {
        if (this->tasks[1].ran && this->tasks[2].ran) this->close();
    }
    void thread(unsigned i) override {
        if (i == 0) {
            this->later(0, kFarOff);
            this->later(1, 3);
            this->later(2, 1);
        } else {
            this->work(i - 1);
        }
        thread_ends();
    }
};

// A timer's body blocks until another timer has fired, which its worker would have watched for.
struct StuckBody : Timed<3, 3> {
    Condition second;
    StuckBody() {
        build(2);
        tasks[1].until = &second;
    }
    void begun() override {
        if (!tasks[2].ran) return;
        second.meet();
        close();
    }
    void thread(unsigned i) override {
        if (i == 0) {
            later(0, kFarOff);
            later(1, 2);
            later(2, 6);
        } else {
            work(i - 1);
        }
        thread_ends();
    }
};

// The same with a task: whoever keeps watch is taken for it.
struct StuckTask : Timed<3, 2> {
    Condition timer;
    StuckTask() {
        build(2);
        tasks[0].until = &timer;
    }
    void begun() override {
        if (!tasks[1].ran) return;
        timer.meet();
        close();
    }
    void thread(unsigned i) override {
        if (i == 0) {
            later(1, 4);
            offer(0);
        } else {
            work(i - 1);
        }
        thread_ends();
    }
};

// Two threads arm.
struct TwoArm : Timed<3, 3> {
    TwoArm() { build(1); }
    void begun() override {
        if (tasks[1].ran && tasks[2].ran) close();
    }
    void thread(unsigned i) override {
        if (i == 0) {
            later(0, kFarOff);
            later(1, 2);
        }
        if (i == 1) later(2, 2);
        if (i == 2) work(0);
        thread_ends();
    }
};

// One is armed while the worker that would watch for it gets up, for a body that blocks until that one has fired.
struct StuckArm : Timed<4, 3> {
    Condition second;
    StuckArm() {
        build(2);
        tasks[1].until = &second;
    }
    void begun() override {
        if (!tasks[2].ran) return;
        second.meet();
        if (tasks[1].ran) close();
    }
    void thread(unsigned i) override {
        if (i == 0) {
            later(0, kFarOff);
            later(1, 2);
        }
        if (i == 1) later(2, 6);
        if (i >= 2) work(i - 2);
        thread_ends();
    }
};

// Two threads make timers in one shard, which the first of them makes, and a third trims it.
struct SameShard : Timed<4, 4> {
    SameShard() { build(1); }
    void begun() override {
        if (++seen == 4) close();
    }
    int seen = 0;
    void thread(unsigned i) override {
        if (i < 2) {
            registry::record()->number = 3;
            for (int k = 0; k < 2; k++) {
                TimerOptions o;
                o.call = entry(static_cast<int>(2 * i) + k);
                o.when = 2;
                CHECK(timer_make(g, o, 0, nullptr) == Submit::kOk);
            }
        }
        if (i == 2) g->timers.trim();
        if (i == 3) work(0);
        thread_ends();
    }
};

// Nothing is pending, and the worker sleeps: a timer is made, or one that rests is armed.
template <bool kArm>
struct Wakes : Timed<2, 1> {
    Timer *timer = nullptr;
    Wakes() { build(1); }
    void begun() override { close(); }
    void thread(unsigned i) override {
        if (i == 0) {
            TimerOptions o;
            o.call = entry(0);
            o.when = kArm ? UINT64_MAX : hc::now() + 2;
            CHECK(timer_make(g, o, hc::now(), &timer) == Submit::kOk);
            if (kArm) {
                const uint64_t at = hc::now();
                CHECK(timer_arm(timer, at + 2, 0, at) == TimerWas::kDone);
            }
        } else {
            work(0);
        }
        thread_ends();
    }
    void after() override {
        timer_unref(timer);
        Timed::after();
        thread_ends();
    }
};

// A shutdown meets timers that are being armed: what was accepted fires, or comes back.
struct Closing : Timed<3, 3> {
    Closing() { build(1); }
    void thread(unsigned i) override {
        if (i == 0)
            for (int k = 0; k < 3; k++) {
                const uint64_t at = hc::now();
                if (schedule(g, entry(k), k == 1 ? at + 2 : at + kFarOff, at) != Submit::kOk) refuse(k);
            }
        if (i == 1) {
            close();
            CHECK(g->await(kNever));
        }
        if (i == 2) work(0);
        thread_ends();
    }
};

// One that keeps timers: it waits for the last of them, which fires, or is cancelled.
template <bool kCancel>
struct Keeping : Timed<4, 1> {
    Timer *timer = nullptr;
    Keeping() {
        build(2);
        TimerOptions o;
        o.call = entry(0);
        o.when = kCancel ? kFarOff : 8;
        CHECK(timer_make(g, o, 0, &timer) == Submit::kOk);
        Records::hand_to(0);
    }
    void thread(unsigned i) override {
        if (i == 0 && kCancel) {
            CHECK(timer_cancel(timer) == TimerWas::kPending);
            tasks[0].refused = 1;
        }
        if (i == 1) {
            g->shutdown(false, true);
            CHECK(g->await(kNever));
            CHECK(tasks[0].ran == !kCancel);
        }
        if (i >= 2) work(i - 2);
        thread_ends();
    }
    void after() override {
        timer_unref(timer);
        Timed::after();
        thread_ends();
    }
};

// Two are kept, of two shards, and cancelled at once: whoever takes the last one away says so.
struct TwoKept : Timed<4, 1> {
    Condition both;
    int made = 0;
    TwoKept() {
        build(1);
        tasks[0].refused = 1;
    }
    void thread(unsigned i) override {
        if (i < 2) {
            TimerOptions o;
            o.call = Entry(Staged::body, nullptr);
            o.when = kFarOff;
            Timer *timer = nullptr;
            registry::record()->number = i;
            CHECK(timer_make(g, o, 0, &timer) == Submit::kOk);
            if (++made == 2) both.meet();
            both.wait();
            CHECK(timer_cancel(timer) == TimerWas::kPending);
            timer_unref(timer);
        }
        if (i == 2) {
            both.wait();
            g->shutdown(false, true);
            CHECK(g->await(kNever));
        }
        if (i == 3) work(0);
        thread_ends();
    }
};

// A timer with a handle, and what its user is told.
template <int Threads>
struct Held : Staged<Threads, 1> {
    Timer *timer = nullptr;
    Plain<int> value{0};
    int ran = 0, dropped = 0, inside = 0;
    Atomic<int> ends;
    static inline Held *now;

    explicit Held(uint64_t when) {
        now = this;
        this->shut_down_at_end = false;
        this->build(1);
        this->tasks[0].refused = 1;
        TimerOptions o;
        o.call = Entry(body, this);
        o.drop = drop;
        o.when = when;
        CHECK(timer_make(this->g, o, 0, &timer) == Submit::kOk);
        thread_ends();
    }
    static void body(void *) {
        CHECK(now->inside++ == 0);
        CHECK(now->dropped == 0);
        now->value = now->value + 1;
        now->ran++;
        now->inside--;
    }
    static void drop(void *, int32_t) {
        CHECK(now->inside == 0);
        CHECK(now->dropped++ == 0);
        now->value = now->value + 1;
    }
    void ended(int of) {
        if (ends.fetch_add(1, memory_order_acq_rel) + 1 == of) {
            this->g->shutdown(false);
            CHECK(this->g->await(kNever));
        }
        thread_ends();
    }
    void after() override {
        CHECK(dropped == 1);
        Staged<Threads, 1>::after();
    }
};

// It is due; one puts it off and brings it forward again, one cancels it and waits.
struct CancelWait : Held<3> {
    CancelWait() : Held(2) {}
    void thread(unsigned i) override {
        if (i == 0) {
            const TimerWas was = timer_cancel(timer);
            CHECK(timer_wait(timer, kNever));
            CHECK(inside == 0);
            if (was == TimerWas::kPending) CHECK(dropped == 1);
            value = value + 1;
        }
        if (i == 1) {
            const uint64_t at = hc::now();
            timer_arm(timer, at + kFarOff, 0, at);
            timer_arm(timer, at + 1, 0, at);
        }
        if (i == 2) return work(0);
        ended(2);
    }
    void after() override {
        timer_unref(timer);
        Held::after();
    }
};

// Two cancel, and one of them waits for the drop that the other runs. A third looks.
struct CancelTwice : Held<4> {
    CancelTwice() : Held(kFarOff) {}
    void thread(unsigned i) override {
        if (i == 0) timer_cancel(timer);
        if (i == 1) {
            timer_cancel(timer);
            CHECK(timer_wait(timer, kNever));
            CHECK(dropped == 1);
            value = value + 1;
        }
        if (i == 2) {
            timer_due(timer);
            timer_stops(timer);
        }
        if (i == 3) return work(0);
        ended(3);
    }
    void after() override {
        timer_unref(timer);
        Held::after();
    }
};

// The last handle goes while it fires, and while it is armed once more.
struct Unref : Held<3> {
    Unref() : Held(2) { timer_ref(timer); }
    void thread(unsigned i) override {
        if (i == 1) {
            const uint64_t at = hc::now();
            timer_arm(timer, at + 1, 0, at);
        }
        if (i <= 1) timer_unref(timer);
        if (i == 2) return work(0);
        ended(2);
    }
};

// Its handles outlive the group, or go with it.
struct Outlives : Held<4> {
    Outlives() : Held(kFarOff) { timer_ref(timer); }
    void thread(unsigned i) override {
        if (i == 0) {
            g->shutdown(false);
            CHECK(g->await(kNever));
            g->unref();
            thread_ends();
        }
        if (i == 1) {
            const uint64_t at = hc::now();
            const TimerWas was = timer_arm(timer, at + 1, 0, at);
            CHECK(was == TimerWas::kPending || was == TimerWas::kClosed);
            timer_unref(timer);
            thread_ends();
        }
        if (i == 2) {
            timer_unref(timer);
            thread_ends();
        }
        if (i == 3) work(0);
    }
    void after() override { CHECK(dropped == 1); }
};

}  // namespace

int main() {
    bool ok = true;
    ok &= holds<Earlier<1>>("earlier, one worker", 20'000);
    ok &= holds<Earlier<2>>("earlier, two workers", 20'000);
    ok &= holds<Earlier<3>>("earlier, three workers", 20'000);  // one of them sits nowhere
    ok &= holds<StuckBody>("stuck body", 20'000);
    ok &= holds<StuckTask>("stuck task", 20'000);
    ok &= holds<StuckArm>("stuck arm", 20'000);
    ok &= holds<TwoArm>("two arm", 20'000);
    ok &= holds<SameShard>("same shard", 20'000);
    ok &= holds<Wakes<false>>("made, wakes", 20'000);
    ok &= holds<Wakes<true>>("armed, wakes", 20'000);
    ok &= holds<Closing>("closing", 20'000);
    ok &= holds<Keeping<false>>("keeping, fires", 10'000);
    ok &= holds<Keeping<true>>("keeping, cancelled", 10'000);
    ok &= holds<TwoKept>("two kept", 20'000);
    ok &= holds<CancelWait>("cancel and wait", 20'000);
    ok &= holds<CancelTwice>("cancelled twice", 20'000);
    ok &= holds<Unref>("unref", 20'000);
    ok &= holds<Outlives>("outlives", 20'000);
    return ok ? 0 : 1;
}
