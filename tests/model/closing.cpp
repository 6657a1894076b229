// The end of a group (src/group/closing.cpp, Lane::close() and uncount_late()): what was accepted runs or is handed back, what was
// refused does neither, nobody waits in vain, and what a task did is visible to whoever waited for it.
#include "model.h"
//
#include "staged.h"

using namespace hc;
using namespace hc::model;

namespace {

template <int Threads, int Tasks>
struct Closed : Staged<Threads, Tasks> {
    Closed() { this->shut_down_at_end = false; }
    void results() {
        for (auto &t : this->tasks) CHECK((t.ran == 0 || t.result == 1) && (t.unrun == 0 || t.result == 2));
    }
    void close(bool at_once) {
        this->g->shutdown(at_once);
        CHECK(this->g->await(kNever));
        results();
    }
};

// A submitter, singly or with an array, a worker, and the end. The submitter's lane is new, or has been listed before.
template <int kArray, bool kNow, Kind kKind>
struct Submitter : Closed<3, 4> {
    Submitter() { build(1, kKind); }
    void thread(unsigned i) override {
        if (i == 0)
            for (int k = 0; k < 4; k += kArray) kArray == 1 ? offer(k) : offer(k, kArray);
        if (i == 1) close(kNow);
        if (i == 2) work(0);
        thread_ends();
    }
};

// The same with a priority, whose queue is made now, or not any more.
template <bool kNow, Kind kKind, Priority kPriority>
struct Level : Closed<4, 4> {
    Level() { build(1, kKind); }
    void thread(unsigned i) override {
        if (i < 2) {
            offer(static_cast<int>(i), kPriority);
            offer(static_cast<int>(i + 2), kPriority);
        }
        if (i == 2) close(kNow);
        if (i == 3) work(0);
        thread_ends();
    }
};

// Two workers.
struct TwoWorkers : Closed<4, 3> {
    TwoWorkers() { build(2); }
    void thread(unsigned i) override {
        if (i == 0)
            for (int k = 0; k < 3; k++) offer(k);
        if (i == 1) close(false);
        if (i >= 2) work(i - 2);
        thread_ends();
    }
};

// A task waits for the next, which may have come into the same batch: no worker leaves while that batch is on its way.
struct Entwined : Closed<4, 3> {
    Condition next;
    Entwined() {
        build(2);
        tasks[1].until = &next;
    }
    void begun() override {
        if (tasks[2].ran) next.meet();
    }
    void thread(unsigned i) override {
        if (i == 0) {
            offer(0, 3);
            if (tasks[2].refused) next.meet();
        }
        if (i == 1) close(false);
        if (i >= 2) work(i - 2);
        thread_ends();
    }
};

// A task waits for those behind it, which shutdown(now) hands back: from a batch and from a lane.
struct StuckBatch : Closed<3, 4> {
    Condition others;
    StuckBatch() {
        build(1);
        give(0, {0, 1});
        tasks[0].until = &others;
    }
    void begun() override {
        if (tasks[1].unrun + tasks[1].ran) others.meet();
    }
    void thread(unsigned i) override {
        if (i == 0) {
            offer(2);
            offer(3);
        }
        if (i == 1) close(true);
        if (i == 2) {
            worker(0).run_batch();
            work(0);
        }
        thread_ends();
    }
};

// Nobody waits for the end.
struct StuckLeft : Closed<2, 2> {
    Condition other;
    StuckLeft() {
        build(1);
        give(0, {0, 1});
        tasks[0].until = &other;
    }
    void begun() override {
        if (tasks[1].unrun + tasks[1].ran) other.meet();
    }
    void thread(unsigned i) override {
        if (i == 0) {
            g->shutdown(true);
        } else {
            worker(0).run_batch();
            work(0);
        }
        thread_ends();
    }
};

// Who waits is another than who closes, and waits from before. A task waits for those behind it, in its batch and in a lane.
template <bool kInLane>
struct StuckAwaited : Closed<4, 3> {
    Condition others;
    StuckAwaited() {
        build(1);
        if (kInLane)
            give(0, {0});
        else
            give(0, {0, 1});
        tasks[0].until = &others;
    }
    void begun() override {
        if (tasks[kInLane ? 2 : 1].unrun + tasks[kInLane ? 2 : 1].ran + tasks[2].refused * kInLane) others.meet();
    }
    void thread(unsigned i) override {
        if (i == 0) {
            offer(2);
            if (kInLane) {
                refuse(1);
                begun();
            }
        }
        if (i == 1) {
            CHECK(g->await(kNever));
            results();
        }
        if (i == 2) g->shutdown(true);
        if (i == 3) {
            worker(0).run_batch();
            work(0);
        }
        thread_ends();
    }
};

// What is handed back waits for what is handed back after it, which the same worker has in its batch.
struct StuckDrop : Closed<3, 2> {
    Condition other;
    StuckDrop() { build(1); }
    void begun() override {
        if (tasks[1].unrun + tasks[1].ran + tasks[1].refused) other.meet();
        if (tasks[0].unrun == 1 && tasks[1].unrun == 0) other.wait();
    }
    void thread(unsigned i) override {
        if (i == 0) {
            offer(0, 2);
            if (tasks[1].refused) other.meet();
        }
        if (i == 1) close(true);
        if (i == 2) work(0);
        thread_ends();
    }
};

// The same, and the batch was filled when the shutdown had looked for such already. Who comes then to await the end hands
// the rest back.
struct StuckDropAwaited : Closed<2, 2> {
    Condition stuck, other;
    StuckDropAwaited() {
        build(1);
        g->shutdown(true);
        give(0, {0, 1});
    }
    void begun() override {
        if (tasks[1].unrun) return other.meet();
        stuck.meet();
        other.wait();
    }
    void thread(unsigned i) override {
        if (i == 0) {
            stuck.wait();
            CHECK(g->await(kNever));
            results();
        } else {
            worker(0).run_batch();
            work(0);
        }
        thread_ends();
    }
    void after() override {
        CHECK(tasks[0].unrun == 1 && tasks[1].unrun == 1);
        g->unref();
    }
};

// Two threads close and await, one of them with a deadline.
struct TwoClosers : Closed<3, 2> {
    TwoClosers() { build(1); }
    void thread(unsigned i) override {
        if (i == 0) {
            offer(0);
            offer(1);
            close(true);
        }
        if (i == 1) {
            g->shutdown(false);
            if (g->await(1)) results();
        }
        if (i == 2) work(0);
        thread_ends();
    }
};

// The creator lets go of a group with workers, without a word.
struct LetGo : Closed<2, 2> {
    LetGo() { build(1); }
    void thread(unsigned i) override {
        if (i == 0) {
            post(0);
            post(1);
            thread_ends();
            g->unref();
        } else {
            work(0);
        }
        thread_ends();
    }
    void after() override {
        for (auto &t : tasks) CHECK(t.ran == 1);
    }
};

// Two workers end the last two tasks at once: one of them must see that both have ended, and tell who drains.
struct TwoLast : Staged<3, 2> {
    TwoLast() {
        shut_down_at_end = false;
        build(2);
        give(0, {0});
        give(1, {1});
    }
    void thread(unsigned i) override {
        if (i == 0) {
            CHECK(g->drain(kNever));
            CHECK(tasks[0].result == 1 && tasks[1].result == 1);
            g->shutdown(false);
        } else {
            worker(i - 1).run_batch();
            work(i - 1);
        }
        thread_ends();
    }
};

// Everything submitted before a drain has ended after it; what others submit meanwhile may or may not.
template <Kind kKind>
struct Drained : Staged<3, 4> {
    bool drained = false;
    Drained() {
        shut_down_at_end = false;
        build(1, kKind);
    }
    void thread(unsigned i) override {
        if (i == 0) {
            post(0);
            post(1);
            CHECK(g->drain(kNever));
            CHECK(tasks[0].result == 1 && tasks[1].result == 1);
            drained = true;
            if (ended == 4) g->shutdown(false);
        }
        if (i == 1) {
            post(2);
            post(3);
            CHECK(g->drain(kNever));
            CHECK(tasks[2].result == 1 && tasks[3].result == 1);
            if (drained) g->shutdown(false);
        }
        if (i == 2) work(0);
        thread_ends();
    }
};

// A late submit is taken back while another submitter drains: what was taken back is not mistaken for
// what the other waits for.
struct DrainedLate : Closed<4, 2> {
    DrainedLate() { build(1); }
    void thread(unsigned i) override {
        if (i == 0) offer(0);
        if (i == 1) {
            offer(1);
            CHECK(g->drain(kNever));
            CHECK(tasks[1].ran == 0 || tasks[1].result == 1);
            CHECK(tasks[1].ran + tasks[1].refused == 1);
        }
        if (i == 2) close(false);
        if (i == 3) work(0);
        thread_ends();
    }
};

// Nobody but the submitter who ran the last task tells who drains.
struct CallerRan : Closed<2, 1> {
    Atomic<int> begin;
    CallerRan() {
        options.capacity = 1;
        options.full = Full::kRun;
        build(1);
        CHECK(g->budget.take(1, 1) == 1);
        g->roster.threads_.fetch_sub(1, memory_order_relaxed);  // the worker never comes
    }
    void begun() override { begin.store(1, memory_order_release); }
    void thread(unsigned i) override {
        if (i == 0) post(0);
        if (i == 1 && begin.load(memory_order_acquire) == 1) {
            CHECK(g->drain(kNever));
            CHECK(tasks[0].result == 1);
        }
        thread_ends();
    }
    void after() override {
        CHECK(tasks[0].ran == 1);
        g->shutdown(false);
        g->unref();
        g->unref();
    }
};

// A full group's submitters run their tasks themselves. Who has seen one begin finds it ended after a drain.
template <Kind kKind>
struct CallerRuns : Closed<3, 2> {
    Atomic<int> begin;
    CallerRuns() {
        options.capacity = 1;
        options.full = Full::kRun;
        build(1, kKind);
        CHECK(g->budget.take(1, 1) == 1);
    }
    void begun() override { begin.store(1, memory_order_release); }
    void thread(unsigned i) override {
        if (i == 0) {
            post(0);
            post(1);
            close(false);
        }
        if (i == 1 && begin.load(memory_order_acquire) == 1) {
            CHECK(g->drain(kNever));
            CHECK(tasks[0].result == 1);
        }
        if (i == 2) work(0);
        thread_ends();
    }
};

// A bounded group never holds more than its capacity; what was refused for want of room may be tried again.
struct Bounded : Closed<3, 4> {
    static constexpr uint64_t kCapacity = 2;
    Bounded() {
        options.capacity = kCapacity;
        build(1);
    }
    void thread(unsigned i) override {
        if (i == 0)
            for (int k = 0; k < 4; k++) {
                Submit s;
                while ((s = submit(g, entry(k))) == Submit::kFull) yield();
                if (s != Submit::kOk) refuse(k);
            }
        if (i == 1) close(false);
        if (i == 2) work(0);
        thread_ends();
    }
    void after() override {
        for (auto &t : tasks) CHECK(t.ran + t.refused == 1);
        CHECK(g->budget.free_.load(memory_order_relaxed) + held() == kCapacity);
        g->unref();
    }
    uint64_t held() {
        uint64_t n = 0;
        g->each_box([&](Outbox &o) { n += o.credit; });
        return n;
    }
};

// Tickets: run, or dropped, or refused; and the record is back in every case. An inbox has several producers.
template <bool kNow, Kind kKind, Priority kPriority = Priority::kNormal>
struct Tickets : Closed<4, 4> {
    Tickets() { build(1, kKind); }
    static void drop(void *task, int32_t) { now->not_run(task); }
    void thread(unsigned i) override {
        if (i < 2)
            for (int k = 0; k < 2; k++) {
                const int task = static_cast<int>(i) * 2 + k;
                if (submit_ticket(g, {.call = entry(task), .drop = drop, .label = "label", .priority = kPriority}) != Submit::kOk) refuse(task);
            }
        if (i == 2) close(kNow);
        if (i == 3) work(0);
        thread_ends();
    }
};

}  // namespace

int main() {
    constexpr Kind kStealing = Kind::kStealing, kShared = Kind::kShared, kPinned = Kind::kPinned;
    bool ok = true;
    ok &= holds<Submitter<1, false, kStealing>>("submitter", 30'000);
    ok &= holds<Submitter<1, true, kStealing>>("submitter, now", 30'000);
    ok &= holds<Submitter<4, false, kStealing>>("array", 30'000);
    ok &= holds<Submitter<2, true, kStealing>>("array, now", 30'000);
    ok &= holds<Submitter<1, false, kShared>>("shared", 30'000);
    ok &= holds<Submitter<2, true, kShared>>("shared, now", 30'000);
    ok &= holds<Submitter<1, false, kPinned>>("pinned", 30'000);
    ok &= holds<Level<false, kStealing, Priority::kHigh>>("high", 30'000);
    ok &= holds<Level<true, kStealing, Priority::kLow>>("low, now", 30'000);
    ok &= holds<Level<false, kPinned, Priority::kLow>>("low, pinned", 30'000);
    ok &= holds<TwoWorkers>("two workers", 30'000);
    ok &= holds<Entwined>("entwined", 60'000);
    ok &= holds<StuckBatch>("stuck", 30'000);
    ok &= holds<StuckLeft>("stuck, left", 10'000);
    ok &= holds<StuckAwaited<false>>("stuck, awaited", 30'000);
    ok &= holds<StuckAwaited<true>>("stuck, in a lane", 30'000);
    ok &= holds<StuckDrop>("stuck drop", 30'000);
    ok &= holds<StuckDropAwaited>("stuck drop, awaited", 10'000);
    ok &= holds<CallerRan>("caller ran", 30'000);
    ok &= holds<TwoClosers>("two closers", 30'000);
    ok &= holds<LetGo>("let go", 30'000);
    ok &= holds<Drained<kStealing>>("drained", 30'000);
    ok &= holds<Drained<kShared>>("drained, shared", 30'000);
    ok &= holds<TwoLast>("two last", 30'000);
    ok &= holds<Bounded>("bounded", 30'000);
    ok &= holds<DrainedLate>("drained, late", 30'000);
    ok &= holds<CallerRuns<kStealing>>("caller runs", 30'000);
    ok &= holds<CallerRuns<kShared>>("caller runs, shared", 30'000);
    ok &= holds<Tickets<false, kStealing>>("tickets", 30'000);
    ok &= holds<Tickets<true, kStealing>>("tickets, now", 30'000);
    ok &= holds<Tickets<false, kShared>>("tickets, shared", 30'000);
    ok &= holds<Tickets<false, kStealing, Priority::kHigh>>("tickets, high", 30'000);
    return ok ? 0 : 1;
}
