// Workers that come and go (src/group/roster.h) in a group that ends, pauses, or has timers: what was accepted runs, and nobody
// who could run it rests.
#include "model.h"
//
#include "breathing.h"

using namespace hc;
using namespace hc::model;

namespace {

// Two threads submit to a group without workers, and one of them shuts it down: the worker for its task is one that the other is
// about to start.
struct EndsTogether : Breathing<3> {
    EndsTogether() { shut_down_at_end = false; }
    void run(unsigned i) override {
        if (i == 0) {
            created(0, 1);
            g->ref();
            offer(0);
            offer(1);
        } else {
            await_creation();
            offer(2);
            g->shutdown(false);
            CHECK(g->await(kNever));
            for (auto &t : tasks) CHECK((t.ran == 0 || t.result == 1) && t.unrun == 0);
            CHECK(g->roster.threads() == 0);
        }
        thread_ends();
        if (i == 0) g->unref();
    }
};

// The only worker comes back from blocking while its group ends, and another is about to be started in its place.
struct EndsBlocked : Breathing<2> {
    Condition begun_, closed;
    EndsBlocked() {
        shut_down_at_end = false;
        options.keep_alive = uint64_t{1} << 40;
    }
    void begun() override {
        if (tasks[0].ran == 0 || tasks[1].ran != 0) return;
        CHECK(this_thread->self->block());
        begun_.meet();
        closed.wait();
        this_thread->self->unblock();
    }
    void run(unsigned i) override {
        if (i == 0) {
            created(1, 1, 1);
            g->ref();
            post(0);
            begun_.wait();
            offer(1);
        } else {
            begun_.wait();
            await_creation();
            g->shutdown(false);
            closed.meet();
            CHECK(g->await(kNever));
            CHECK(tasks[0].result == 1 && tasks[1].unrun == 0 && g->roster.threads() == 0);
        }
        thread_ends();
        if (i == 0) g->unref();
    }
};

// One goes to rest in the middle of its batch, and the group is shut down. Nobody waits for that.
template <bool kNow>
struct EndsInBatch : Staged<3, 3> {
    EndsInBatch() {
        shut_down_at_end = false;
        build(2);
    }
    void begun() override {
        if (tasks[1].ran + tasks[2].ran + tasks[0].unrun + tasks[1].unrun + tasks[2].unrun != 0) return;
        g->roster.most_.store(1, memory_order_relaxed);
        g->roster.surplus_.store(1, memory_order_relaxed);
    }
    void thread(unsigned i) override {
        if (i == 0) {
            give(0, {0, 1, 2});
            worker(0).publish(false);
            worker(0).run_batch();
        }
        if (i < 2)
            work(i);
        else
            g->shutdown(kNow);
        thread_ends();
    }
    void after() override {
        CHECK(kNow || tasks[0].unrun + tasks[1].unrun + tasks[2].unrun == 0);
        Staged::after();
    }
};

// The same while it hands back what it has taken after the shutdown: the other may have gone, and nobody looks any more.
struct EndsHandingBack : Staged<3, 3> {
    EndsHandingBack() {
        shut_down_at_end = false;
        build(2);
    }
    void begun() override {
        if (ended != 0) return;
        g->roster.most_.store(1, memory_order_relaxed);
        g->roster.surplus_.store(1, memory_order_relaxed);
    }
    void thread(unsigned i) override {
        if (i < 2) {
            work(i);
        } else {
            offer(0, 3);
            g->shutdown(true);
        }
        thread_ends();
    }
};

// The only worker blocks until a timer has fired.
struct BlocksForTimer : Breathing<2> {
    Condition fired;
    BlocksForTimer() { options.keep_alive = uint64_t{1} << 40; }
    void begun() override {
        if (tasks[1].ran) return fired.meet();
        Worker *w = this_thread->self;
        CHECK(w->block());
        fired.wait();
        w->unblock();
    }
    void run(unsigned i) override {
        if (i != 0) return;
        created(1, 1, 1);
        post(0);
        const uint64_t at = hc::now();
        CHECK(schedule(g, entry(1), at + 3, at) == Submit::kOk);
        thread_ends();
    }
};

// Somebody pauses a group that is being shut down and keeps its timers.
struct PausedAtEnd : Breathing<2> {
    PausedAtEnd() { shut_down_at_end = false; }
    void run(unsigned i) override {
        if (i == 0) {
            created(1, 1);
            const uint64_t at = hc::now();
            if (schedule(g, entry(1), at + 3, at) != Submit::kOk) refuse(1);
            offer(0);
            g->shutdown(false, true);
            CHECK(g->await(kNever));
        } else {
            await_creation();
            g->pause();
        }
        thread_ends();
    }
};

// A worker that may leave, but is needed, sleeps on: in a paused group with a queue, and in a closed one that keeps a timer.
template <bool kPaused>
struct SleepsOn : Breathing<3, 1> {
    Timer *timer = nullptr;
    SleepsOn() { shut_down_at_end = kPaused; }
    void run(unsigned) override {
        created(0, 2);
        if (kPaused) g->pause();
        if (!kPaused) {
            TimerOptions o;
            o.call = entry(2);
            o.when = kFarOff;
            CHECK(timer_make(g, o, 0, &timer) == Submit::kOk);
        }
        post(0);
        post(1);
        if (!kPaused) {
            CHECK(g->drain(kNever));
            g->shutdown(false, true);
        }
        pass(400);
        uint64_t parks = 0;
        for (uint32_t i = 0; i < g->roster.made(); i++) parks += g->roster.at(i).counters.parks.read();
        CHECK(parks < 20);
        if (kPaused) {
            g->resume();
            post(2);
        } else {
            CHECK(timer_cancel(timer) == TimerWas::kPending);
            timer_unref(timer);
            CHECK(g->await(kNever));
            refuse(2);
        }
        thread_ends();
    }
};

// There is a thread for one worker, and that one may leave.
struct Shortage : Breathing<3> {
    Shortage() {
        withheld = 3;
        options.keep_alive = uint64_t{1} << 40;
    }
    void run(unsigned i) override {
        if (i == 0)
            created(0, 2);
        else
            await_creation();
        offer(static_cast<int>(i));
        if (i == 0) offer(2);
        thread_ends();
    }
};

}  // namespace

int main() {
    bool ok = true;
    ok &= holds<EndsTogether>("ends together", 50'000);
    ok &= holds<EndsBlocked>("ends, blocked", 50'000);
    ok &= holds<EndsInBatch<false>>("ends in a batch", 20'000);
    ok &= holds<EndsInBatch<true>>("ends in a batch, now", 20'000);
    ok &= holds<EndsHandingBack>("ends, handing back", 40'000);
    ok &= holds<BlocksForTimer>("blocks for a timer", 20'000);
    ok &= holds<PausedAtEnd>("paused at the end", 100'000);
    ok &= holds<SleepsOn<true>>("sleeps on, paused", 20'000);
    ok &= holds<SleepsOn<false>>("sleeps on, closed", 20'000);
    ok &= holds<Shortage>("shortage", 20'000);
    return ok ? 0 : 1;
}
