// One timer (src/timer/timer.h, src/group/timer_life.cpp, timer_calls.cpp, timer_run.cpp), and all that may happen to it at once: it
// fires once at a time, ends once, and nothing is touched after its last reference. Those of a group: timers.cpp.
#include "model.h"
//
#include "timed.h"

using namespace hc;
using namespace hc::model;

namespace {

// A timer with a handle, and what its user is told.
template <int Threads>
struct Held : Staged<Threads, 1> {
    Timer *timer = nullptr;
    Plain<int> value{0};
    int ran = 0, dropped = 0, inside = 0;
    Condition begins;  // its body has begun
    Atomic<int> ends;
    static inline Held *now;

    explicit Held(uint64_t when, uint64_t period = 0, bool tell = true) {
        now = this;
        this->shut_down_at_end = false;
        this->build(1);
        this->tasks[0].refused = 1;
        registry::record()->number = 0;
        TimerOptions o;
        o.call = Entry(body, this);
        if (tell) o.drop = drop;
        o.when = when;
        o.period = period;
        if (period != 0) o.repeat = Repeat::kRate;
        CHECK(timer_make(this->g, o, 0, &timer) == Submit::kOk);
        thread_ends();
    }
    static void body(void *) {
        CHECK(now->inside++ == 0);
        CHECK(now->dropped == 0);
        now->value = now->value + 1;
        now->ran++;
        now->begins.meet();
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

// Somebody waits for its body, of which nothing else would tell.
struct WaitForBody : Held<2> {
    WaitForBody() : Held(2, 0, false) {}
    void thread(unsigned i) override {
        if (i == 1) return work(0);
        begins.wait();
        CHECK(timer_wait(timer, kNever));
        CHECK(inside == 0);
        value = value + 1;
        ended(1);
    }
    void after() override {
        timer_unref(timer);
        Staged::after();
        thread_ends();
    }
};

// A periodic one fires. One changes it, one asks about it.
struct Asked : Held<3> {
    Asked() : Held(2, 2) {}
    void thread(unsigned i) override {
        if (i == 0) {
            timer_due(timer);
            timer_missed(timer);
            timer_stops(timer);
        }
        if (i == 1) {
            const uint64_t at = hc::now();
            timer_arm(timer, at + 1, 3, at);
        }
        if (i == 2) return work(0);
        ended(2);
    }
    void after() override {
        timer_unref(timer);
        Held::after();
    }
};

// It is due, behind a task that blocks. The group hands it back, and its user cancels it.
struct HandedBack : Held<3> {
    Condition stuck, cancelled;
    HandedBack() : Held(3) {
        tasks[0].refused = 0;
        tasks[0].until = &cancelled;
        registry::record()->number = 0;
        CHECK(schedule(g, entry(0), 2, 0) == Submit::kOk);
        machine.ticks = 8;
        thread_ends();
    }
    void begun() override { stuck.meet(); }
    void thread(unsigned i) override {
        if (i == 2) return work(0);
        stuck.wait();
        if (i == 0) {
            const registry::Call call(g);  // as in hc_group_shutdown(): for the drops that run here
            g->shutdown(true);
            CHECK(g->await(kNever));
        }
        if (i == 1) {
            timer_cancel(timer);
            cancelled.meet();
        }
        thread_ends();
    }
    void after() override {
        CHECK(ran == 0);
        timer_unref(timer);
        Held::after();
    }
};

}  // namespace

int main() {
    bool ok = true;
    ok &= holds<CancelWait>("cancel and wait", 20'000);
    ok &= holds<CancelTwice>("cancelled twice", 20'000);
    ok &= holds<Unref>("unref", 20'000);
    ok &= holds<Outlives>("outlives", 20'000);
    ok &= holds<WaitForBody>("wait for the body", 20'000);
    ok &= holds<Asked>("asked", 20'000);
    ok &= holds<HandedBack>("handed back", 20'000);
    return ok ? 0 : 1;
}
