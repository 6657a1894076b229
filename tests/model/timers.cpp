// The timers of a group (src/group/timers.cpp, watch.h): each fires or is handed back once, whoever armed it first or last, and nobody
// sleeps past one. The life of one: timer_life.cpp. The end of their group: timers_end.cpp.
#include "model.h"
//
#include "timed.h"

using namespace hc;
using namespace hc::model;

namespace {

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

// A timer is armed while the body of another blocks until it has fired. The one in the other seat has a far timer in view only.
struct FarDeputy : Timed<3, 3> {
    Condition first, second;
    FarDeputy() {
        build(2);
        tasks[1].until = &second;
        registry::record()->number = 0;
        later(0, kFarOff);
        thread_ends();
    }
    void begun() override {
        if (tasks[1].ran) first.meet();
        if (!tasks[2].ran) return;
        second.meet();
        close();
    }
    void thread(unsigned i) override {
        if (i == 0) {
            while (Gate::parked(g->gate.word_.newest()) < 2) model::yield();
            registry::record()->number = 1;
            later(1, 4);
            first.wait();
            registry::record()->number = 2;
            later(2, 2);
        } else {
            work(i - 1);
        }
        thread_ends();
    }
};

// A periodic timer's worker goes on to a task that blocks until it has fired again. The other worker sleeps in no seat, and that task
// is not for it.
struct Again : Timed<3, 1> {
    Condition again;
    int fired = 0;
    static inline Again *now;
    Again() {
        now = this;
        build(2, Kind::kPinned);
        tasks[0].until = &again;
    }
    static void fire(void *) {
        if (++now->fired < 2) return;
        now->again.meet();
        if (now->fired == 2 && now->tasks[0].ran) now->close();
    }
    static void drop(void *, int32_t) {}
    void begun() override {
        if (fired >= 2) close();
    }
    void thread(unsigned i) override {
        if (i == 0) {
            TimerOptions o;
            o.call = Entry(fire, nullptr);
            o.drop = drop;
            o.when = hc::now() + 2;
            o.period = 2;
            o.repeat = Repeat::kDelay;
            CHECK(timer_make(g, o, hc::now(), nullptr) == Submit::kOk);
            CHECK(submit_pinned(g, 0, entry(0)) == Submit::kOk);
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

// A short batch of timers is left to whoever sits in the other seat. Nobody does; or the one that did gets up, for a task that blocks until
// that batch has been run: one of the two sees the other, and tells the third.
template <bool kGetsUp>
struct Rest : Timed<2 + kGetsUp, 2 + kGetsUp> {
    Condition rest;
    Rest() {
        this->shut_down_at_end = true;
        this->build(2 + kGetsUp);
        this->tasks[0].until = &rest;
        this->worker(0).was_due_ = true;
        this->worker(0).pace_ = 16;
        this->worker(0).due_at_ = 1;
        if (!kGetsUp) return;
        this->tasks[2 * kGetsUp].until = &rest;
        this->g->timers.watch.covered_[0].store(1, memory_order_relaxed);
        this->g->timers.watch.sitting_[0].store(1, memory_order_relaxed);
        this->g->gate.begin_search(1);
    }
    void begun() override {
        if (this->tasks[1].ran) rest.meet();
    }
    void thread(unsigned i) override {
        if (i == 0) {
            this->give(0, {0, 1});
            this->worker(0).publish(false);
            this->worker(0).run_batch();
        }
        if (i == 1 && kGetsUp) {
            Watch::Turn turn;
            turn.seat = 0;
            this->g->timers.end_watch(turn, false);
            this->give(1, {2});
            this->worker(1).publish(true);
            this->worker(1).run_batch();
        }
        this->work(i);
        thread_ends();
    }
};

}  // namespace

int main() {
    bool ok = true;
    ok &= holds<Earlier<1>>("earlier, one worker", 20'000);
    ok &= holds<Earlier<2>>("earlier, two workers", 20'000);
    ok &= holds<Earlier<3>>("earlier, three workers", 20'000);  // one of them sits nowhere
    ok &= holds<StuckBody>("stuck body", 20'000);
    ok &= holds<FarDeputy>("far deputy", 20'000);
    ok &= holds<Again>("again", 20'000);
    ok &= holds<StuckTask>("stuck task", 20'000);
    ok &= holds<StuckArm>("stuck arm", 20'000);
    ok &= holds<TwoArm>("two arm", 20'000);
    ok &= holds<SameShard>("same shard", 20'000);
    ok &= holds<Wakes<false>>("made, wakes", 20'000);
    ok &= holds<Wakes<true>>("armed, wakes", 20'000);
    ok &= holds<Rest<false>>("a batch's rest", 10'000);
    ok &= holds<Rest<true>>("a batch's rest, left", 30'000);
    return ok ? 0 : 1;
}
