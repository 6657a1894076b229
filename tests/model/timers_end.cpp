// The end of a group that has timers (src/group/closing.cpp, timers.cpp): those that it keeps fire, the others come back, and nobody leaves
// before, or sleeps on when the last is gone.
#include "model.h"
//
#include "timed.h"

using namespace hc;
using namespace hc::model;

namespace {

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
template <bool kCancel, Kind kKind = Kind::kStealing>
struct Keeping : Timed<4, 1> {
    Timer *timer = nullptr;
    Keeping() {
        build(2, kKind);
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

// Of two kept timers, one waits for the other, which may have come into the same batch: no worker leaves while that is on its way.
struct Entwined : Timed<3, 2> {
    Condition settled, second;
    Entwined() {
        build(2);
        tasks[0].until = &second;
        later(0, 2);
        later(1, 2);
        machine.ticks = 8;
        thread_ends();
    }
    void begun() override {
        if (tasks[1].ran) second.meet();
    }
    void thread(unsigned i) override {
        if (i == 0) {
            g->shutdown(false, true);
            settled.meet();
            CHECK(g->await(kNever));
            CHECK(tasks[0].result == 1 && tasks[1].result == 1);
        } else {
            settled.wait();
            work(i - 1);
        }
        thread_ends();
    }
};

// Two wait for the end, and each hands back what it finds: none leaves before the other has done so, and whoever is last tells.
struct TwoAwait : Timed<3, 2> {
    Condition closed;
    TwoAwait() {
        build(1);
        for (int k = 0; k < 2; k++) {
            registry::record()->number = static_cast<uint32_t>(k);
            later(k, kFarOff);
        }
        thread_ends();
    }
    void thread(unsigned i) override {
        if (i == 2) return work(0);
        {
            const registry::Call call(g);  // as in hc_group_await(): for what is called here
            if (i == 0) {
                g->shutdown(true);
                closed.meet();
            }
            closed.wait();
            CHECK(g->await(kNever));
            for (auto &t : tasks) CHECK(t.result == 2);
        }
        thread_ends();
    }
};

// The last timer is taken between two tasks of HIGH, or would be. Kept: the other worker, asleep for it, must hear that it is gone. Not
// kept: it does not fire any more.
template <bool kKept>
struct Between : Timed<3, 5> {
    Condition closed, high;
    Between() {
        build(2, Kind::kPinned);
        post(2, Priority::kHigh);
        post(3, Priority::kHigh);
        later(4, kFarOff);
        thread_ends();
        give(0, {0, 1});
    }
    void begun() override {
        if (!tasks[3].ran || tasks[4].ran + tasks[4].unrun != 0 || high.met) return;
        high.meet();
        while (kKept && Gate::parked(g->gate.word_.newest()) == 0) yield();
        g->gate.raise(Gate::kHigh);  // as if another had come and gone
        machine.ticks += kFarOff;
    }
    void thread(unsigned i) override {
        if (i == 0) {
            closed.wait();
            worker(0).run_batch();
        }
        if (i == 1) kKept ? high.wait() : over.wait();
        if (i < 2) {
            work(i);
        } else {
            g->shutdown(false, kKept);
            closed.meet();
            CHECK(g->await(kNever));
            CHECK(tasks[4].ran == kKept);
        }
        thread_ends();
    }
};

// One is pending far off, and the only worker in a task until it has come back: it does by who awaits the end.
struct StuckWorker : Timed<2, 2> {
    Condition dropped;
    StuckWorker() {
        build(1);
        tasks[0].until = &dropped;
        later(1, kFarOff);
        thread_ends();
        give(0, {0});
    }
    void begun() override {
        if (tasks[1].unrun) dropped.meet();
    }
    void thread(unsigned i) override {
        if (i == 0) {
            const registry::Call call(g);
            g->shutdown(true);
            CHECK(g->await(kNever));
            CHECK(tasks[1].result == 2);
        } else {
            worker(0).run_batch();
            work(0);
        }
        thread_ends();
    }
};

// Somebody who has not seen the shutdown pauses the group, and the worker that is to wait for a timer goes to bed without a seat.
struct Paused : Timed<3, 1> {
    Paused() {
        build(1);
        later(0, 12);
        thread_ends();
    }
    void thread(unsigned i) override {
        if (i == 0) g->pause();
        if (i == 1) {
            g->shutdown(false, true);
            CHECK(g->await(kNever));
            CHECK(tasks[0].result == 1);
        }
        if (i == 2) work(0);
        thread_ends();
    }
};

}  // namespace

int main() {
    bool ok = true;
    ok &= holds<Closing>("closing", 20'000);
    ok &= holds<Keeping<false>>("keeping, fires", 10'000);
    ok &= holds<Keeping<true>>("keeping, cancelled", 10'000);
    ok &= holds<Keeping<false, Kind::kShared>>("keeping, shared", 10'000);
    ok &= holds<Keeping<false, Kind::kPinned>>("keeping, pinned", 10'000);
    ok &= holds<TwoKept>("two kept", 20'000);
    ok &= holds<Entwined>("entwined", 20'000);
    ok &= holds<TwoAwait>("two await", 20'000);
    ok &= holds<Between<true>>("between, kept", 5'000);
    ok &= holds<Between<false>>("between", 5'000);
    ok &= holds<StuckWorker>("stuck worker", 10'000);
    ok &= holds<Paused>("paused", 60'000);
    return ok ? 0 : 1;
}
