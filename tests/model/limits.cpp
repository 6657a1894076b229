// The limit of a task that runs (src/group/deadline.h, limits.cpp): the sentinel learns of it, tells that task and no other, and sends
// it signals, none of which comes later than its end. The sentinel's own loop is written here once more, without its end.
#include "model.h"
//
#include "group/group.h"
#include "records.h"
#include "stand_ins.h"

// The process has one: the iteration's. Its definition becomes that of a pointer.
#define limits (*model_limits)
#include "group/limits.cpp"
#undef limits

using namespace hc;
using namespace hc::model;

namespace {

// One thread has tasks, the sentinel is another, and there may be one that cancels.
struct Limit : Model<3> {
    Limits own;
    ThreadRecord record;
    hc::Task task[3];
    Parker bed;     // the sentinel's
    Parker sleeps;  // the task's
    bool over = false;
    // The signal: the kernel's part. It orders memory no more than it must: what was done before it was sent is seen.
    Atomic<int> on_its_way;
    bool blocked = true;
    bool queues = true;
    int came = 0, sent = 0;

    static inline Limit *now;  // the iteration's

    Limit() {
        now = this;
        Records::forget();
        model_limits = &own;
        machine.ticks = 100;  // a time is none of the states
        for (auto &t : task) t.state.store(hc::Task::kRunning, memory_order_relaxed);
    }
    virtual void tasks() = 0;
    virtual void other() {}
    void thread(unsigned i) override {
        if (i == 0) {
            this_thread = &record;
            tasks();
            CHECK(on_its_way.newest() == 0 && record.deadlines.asked.newest() == record.deadlines.answered.newest());
            CHECK(own.interruptible.newest() == 0 && record.deadlines.depth == 0);
            limits_forget(record.deadlines);
            this_thread = nullptr;
            over = true;
            bed.unpark();
        } else if (i == 1) {
            sentinel();
        } else {
            other();
        }
    }
    void sentinel() {
        while (!over) {
            const uint64_t at = hc::now();
            if (limits_due() <= at) limits_look(at);
            bed.park_until(limits_due());
        }
    }
    // A moment at which a signal may be delivered to the task's thread: a system call.
    bool interrupted() {
        if (blocked || on_its_way.exchange(0, memory_order_acquire) == 0) return false;
        answer_limit_signal(0, nullptr, nullptr);
        came++;
        return true;
    }
    void wait_for_signal() {
        for (int n = came; n == came; interrupted()) yield();
    }
};

}  // namespace

namespace hc {

__thread ThreadRecord *this_thread = nullptr;
bool task_stops(const Task *t) { return t->stopped(); }
bool timer_stops(Timer *) { return false; }
bool sentinel_ring() {
    Limit::now->bed.unpark();
    return true;
}
void wake_sleepers(const void *) { Limit::now->sleeps.unpark(); }
int limit_signal() { return 1; }
void unblock_signal(int) { Limit::now->blocked = false; }
bool signal_queues(int) { return Limit::now->queues; }
bool take_signal(int) { return Limit::now->on_its_way.exchange(0, memory_order_acquire) != 0; }
bool thread_signal(int32_t, int) {
    CHECK(Limit::now->on_its_way.exchange(1, memory_order_release) == 0 || !Limit::now->queues);
    Limit::now->sent++;
    return true;
}

}  // namespace hc

namespace {

// The sentinel may be about to sleep when the first begins. It is told, and the next one on that thread is not.
struct Told : Limit {
    void tasks() override {
        {
            Limited limited(&record, 2, &task[0], nullptr, false);
            while (!limited.deadline()->passed()) sleeps.park();
            CHECK(limited.end() && limited.ran() >= 2);
            CHECK(task[0].stopped());
        }
        Limited next(&record, kFarOff, &task[1], nullptr, false);
        for (int i = 0; i < 3; i++) {
            yield();
            CHECK(!next.deadline()->passed());
        }
        CHECK(!next.end());
        CHECK(!task[1].stopped());
    }
    static constexpr uint64_t kFarOff = uint64_t{1} << 30;
};

// They end when they like: the task was told if and only if its limit has passed, and both agree.
struct Ends : Limit {
    void tasks() override {
        for (auto &t : task) {
            Limited limited(&record, 1, &t, nullptr, false);
            if (&t == &task[1]) yield();
            const bool passed = limited.end();
            CHECK(t.stopped() == passed);
        }
    }
};

// The same for two at once, one on top of the other, and for the times of both.
struct OnTop : Limit {
    void tasks() override {
        Limited outer(&record, 3, &task[0], nullptr, false);
        {
            Limited inner(&record, 1, &task[1], nullptr, false);
            while (!inner.deadline()->passed()) sleeps.park();
            CHECK(inner.end());
        }
        while (!outer.deadline()->passed()) sleeps.park();
        CHECK(outer.end());
    }
};

// Signals, until it has left, though it may have gone unheard; then none. It may leave the signal blocked.
template <bool kBlocks>
struct Interrupted : Limit {
    void tasks() override {
        {
            Limited limited(&record, 1, &task[0], nullptr, true);
            wait_for_signal();
            if (kBlocks) blocked = true;
            yield();
            CHECK(limited.end());
        }
        CHECK(on_its_way.newest() == 0);
        const int until = sent;
        Limited next(&record, 1, &task[1], nullptr, false);
        for (int i = 0; i < 3; i++) {
            yield();
            CHECK(sent == until && on_its_way.newest() == 0);
        }
    }
};

// One is kept by the process's runtime until the next comes.
struct KeptSignal : Limit {
    KeptSignal() { queues = false; }
    void tasks() override {
        Limited limited(&record, 1, &task[0], nullptr, true);
        while (on_its_way.exchange(0, memory_order_acquire) == 0) yield();
        wait_for_signal();
        CHECK(limited.end());
    }
};

// It has waited, several times: what is sent after that, and then again, is known to who is about to wait once more.
struct Reopened : Limit {
    Reopened() { queues = false; }
    void tasks() override {
        Limited limited(&record, 1, &task[0], nullptr, true);
        for (int k = 0; k < 3; k++) const Undisturbed waits;
        limited.end();
    }
};

// It ends at any time, with a signal on its way or not.
template <bool kQueues>
struct InterruptedEnds : Limit {
    InterruptedEnds() { queues = kQueues; }
    void tasks() override {
        for (auto &t : task) {
            Limited limited(&record, 1, &t, nullptr, true);
            if (&t == &task[1]) interrupted();
            limited.end();
            CHECK(on_its_way.newest() == 0);
        }
    }
};

// It waits meanwhile, and is undisturbed; then signals come again, also if it has passed while it waited.
struct Waits : Limit {
    void tasks() override {
        Limited limited(&record, 2, &task[0], nullptr, true);
        {
            const Undisturbed waits;
            CHECK(on_its_way.newest() == 0);
            const int until = sent;
            Limited inner(&record, 1, &task[1], nullptr, false);
            yield();
            {
                const Undisturbed as_before;
                yield();
            }
            inner.end();
            CHECK(sent == until && on_its_way.newest() == 0);
        }
        wait_for_signal();
    }
};

// A cancel while it begins: before, it is found stopped; after, it gets its signal.
struct Cancelled : Limit {
    void tasks() override {
        Limited limited(&record, kNever, &task[0], nullptr, true);
        wait_for_signal();
        CHECK(task[0].stopped());
        CHECK(!limited.end());
    }
    void other() override {
        task[0].stop();
        limits_stop();
    }
};

// A thread ends while others are looked at, and another comes.
struct Forgotten : Limit {
    ThreadRecord another;
    void tasks() override {
        Limited limited(&record, 2, &task[0], nullptr, false);
        while (!limited.deadline()->passed()) sleeps.park();
    }
    void other() override {
        this_thread = &another;
        {
            Limited limited(&another, 1, &task[1], nullptr, false);
            yield();
        }
        limits_forget(another.deadlines);
        this_thread = nullptr;
    }
};

}  // namespace

int main() {
    bool ok = true;
    ok &= holds<Told>("told", 20'000);
    ok &= holds<Ends>("ends", 50'000);
    ok &= holds<OnTop>("on top", 20'000);
    ok &= holds<Interrupted<false>>("interrupted", 20'000);
    ok &= holds<Interrupted<true>>("interrupted, blocks", 20'000);
    ok &= holds<KeptSignal>("kept", 20'000);
    ok &= holds<Reopened>("reopened", 50'000);
    ok &= holds<InterruptedEnds<false>>("interrupted, ends", 50'000);
    ok &= holds<InterruptedEnds<true>>("interrupted, ends, queues", 50'000);
    ok &= holds<Waits>("waits", 50'000);
    ok &= holds<Cancelled>("cancelled", 20'000);
    ok &= holds<Forgotten>("forgotten", 20'000);
    return ok ? 0 : 1;
}
