// The sleep protocol (src/group/gate.h) as the real workers, submits and searches use it: no task is left lying while those
// who could run it sleep. In every scenario some task blocks its worker until others have run, so that nothing is found by
// luck, at the end of what a worker happened to do.
#include "model.h"
//
#include "staged.h"

using namespace hc;
using namespace hc::model;

namespace {

// One submit and a worker that falls asleep: hazard A.
struct OneSubmit : Staged<2, 2> {
    OneSubmit() { build(1); }
    void thread(unsigned i) override {
        if (i == 0) {
            post(0);
            post(1);
        } else {
            work(0);
        }
        thread_ends();
    }
};

// The first task blocks for ever until the second has run: hazard B.
struct Blocked : Staged<3, 2> {
    Condition second;
    Blocked() {
        build(2);
        tasks[0].until = &second;
    }
    void begun() override {
        if (tasks[1].ran) second.meet();
    }
    void thread(unsigned i) override {
        if (i == 0) {
            post(0);
            post(1);
        } else {
            work(i - 1);
        }
        thread_ends();
    }
};

// The same from two submitters.
struct TwoSubmitters : Staged<4, 2> {
    Condition both;
    TwoSubmitters() {
        build(2);
        tasks[0].until = tasks[1].until = &both;
    }
    void begun() override {
        if (tasks[0].ran && tasks[1].ran) both.meet();
    }
    void thread(unsigned i) override {
        if (i < 2)
            post(static_cast<int>(i));
        else
            work(i - 2);
        thread_ends();
    }
};

// A batch of submits: more than one worker must come, and what the first has claimed is stolen from behind it.
struct Batched : Staged<3, 3> {
    Condition rest;
    Batched() {
        build(2);
        tasks[0].until = &rest;
    }
    void begun() override {
        if (tasks[1].ran && tasks[2].ran) rest.meet();
    }
    void thread(unsigned i) override {
        if (i == 0) {
            const Entry all[] = {entry(0), entry(1), entry(2)};
            size_t accepted;
            CHECK(submit_batch(g, all, 3, &accepted) == Submit::kOk && accepted == 3);
        } else {
            work(i - 1);
        }
        thread_ends();
    }
};

// A worker has just filled its batch, another falls asleep: the batch is published as a submit is.
template <bool kSearching>
struct BatchFilled : Staged<2, 2> {
    Condition second;
    BatchFilled() {
        build(2);
        tasks[0].until = &second;
        if (kSearching) g->gate.begin_search(1);
    }
    void begun() override {
        if (tasks[1].ran) second.meet();
    }
    void thread(unsigned i) override {
        Worker &w = worker(i);
        if (i == 0) {
            give(0, {0, 1});
            w.publish(kSearching);
            w.run_batch();
        }
        work(i);
        thread_ends();
    }
};

// Two searchers each find something, while the third sleeps: the last one to leave sees what the other has left.
struct TwoSearchers : Staged<3, 3> {
    Condition rest;
    TwoSearchers() {
        build(3);
        tasks[0].until = tasks[2].until = &rest;
        g->gate.begin_search(2);
        g->gate.begin_search(2);
    }
    void begun() override {
        if (tasks[1].ran) rest.meet();
    }
    void thread(unsigned i) override {
        Worker &w = worker(i);
        if (i == 0) give(0, {0, 1});
        if (i == 1) give(1, {2});
        if (i != 2) {
            w.publish(true);
            w.run_batch();
        }
        work(i);
        thread_ends();
    }
};

// A stuck worker's batch is being stolen from, by a worker that is not counted as searching, while a third falls asleep: for
// the time of the theft the batch looks empty.
struct StolenFrom : Staged<3, 3> {
    Condition left;
    StolenFrom() {
        build(3);
        for (int i : {0, 2}) tasks[i].until = &left;
        give(0, {0, 1, 2});
    }
    void begun() override {
        if (tasks[1].ran) left.meet();
    }
    void thread(unsigned i) override {
        Worker &w = worker(i);
        if (i == 0) w.run_batch();
        if (i == 1 && w.steal_from(worker(0))) {
            w.publish(false);
            w.run_batch();
        }
        work(i);
        thread_ends();
    }
};

// A busy worker unlists empty lanes, a submitter pushes to one of them, a third worker is woken for it or falls asleep.
struct Tidied : Staged<3, 2> {
    Condition second;
    Outbox *lanes[2];
    Tidied() {
        build(2);
        tasks[0].until = &second;
        bool closed;
        registry::bind(g, &closed)->listing.list();
        Records::hand_to(0);
    }
    void begun() override {
        if (tasks[1].ran) second.meet();
    }
    void thread(unsigned i) override {
        if (i == 0) {
            post(1);
        } else {
            Worker &w = worker(i - 1);
            if (i == 1) {
                give(0, {0});
                w.tidy();
                w.publish(false);
                w.run_batch();
            }
            work(i - 1);
        }
        thread_ends();
    }
};

// As many lanes as submitters, on one shelf, and two workers that list and unlist them all the time.
struct TwoLanes : Staged<4, 4> {
    Condition all;
    TwoLanes() { build(2); }
    void thread(unsigned i) override {
        if (i < 2) {
            post(static_cast<int>(i * 2));
            post(static_cast<int>(i * 2 + 1));
        } else {
            work(i - 2);
        }
        thread_ends();
    }
};

// One queue for all.
struct Shared : Staged<4, 2> {
    Condition both;
    Shared() {
        build(2, Kind::kShared);
        tasks[0].until = tasks[1].until = &both;
    }
    void begun() override {
        if (tasks[0].ran && tasks[1].ran) both.meet();
    }
    void thread(unsigned i) override {
        if (i < 2)
            post(static_cast<int>(i));
        else
            work(i - 2);
        thread_ends();
    }
};

// One queue for each worker: a wake means this one.
struct Pinned : Staged<4, 3> {
    Condition all;
    Pinned() {
        build(2, Kind::kPinned);
        tasks[0].until = &all;
    }
    void begun() override {
        if (tasks[1].ran) all.meet();
    }
    void thread(unsigned i) override {
        if (i == 0) {
            CHECK(submit_pinned(g, 0, entry(0)) == Submit::kOk);
            CHECK(submit_pinned(g, 0, entry(2)) == Submit::kOk);
        } else if (i == 1) {
            CHECK(submit_pinned(g, 1, entry(1)) == Submit::kOk);
        } else {
            work(i - 2);
        }
        thread_ends();
    }
};

// A task waits, and its worker looks for something else to do, while another takes from its batch: for the time of the theft the batch
// looks empty.
struct HelpsStolenFrom : Staged<3, 4> {
    int helps = 0;
    HelpsStolenFrom() {
        build(2);
        give(0, {0, 1, 2});
    }
    void begun() override {
        if (tasks[1].ran + tasks[2].ran + tasks[3].ran != 0 || this_thread == nullptr || this_thread->self == nullptr) return;
        if (helps++ == 0) this_thread->self->help();
    }
    void thread(unsigned i) override {
        if (i == 2) {
            post(3);
        } else {
            worker(i).interrupted_ = i == 0;
            work(i);
        }
        thread_ends();
    }
};

// A queue for all, made by whichever of two comes first.
template <Kind kKind, Priority kPriority>
struct Level : Staged<4, 2> {
    Condition both;
    Level() {
        build(2, kKind);
        tasks[0].until = tasks[1].until = &both;
    }
    void begun() override {
        if (tasks[0].ran && tasks[1].ran) both.meet();
    }
    void thread(unsigned i) override {
        if (i < 2)
            post(static_cast<int>(i), kPriority);
        else
            work(i - 2);
        thread_ends();
    }
};

// The worker that searches finds work of its own, which blocks: hazard B, where only one may run the one and anybody the other.
struct PinnedAndHigh : Staged<4, 2> {
    Condition high;
    PinnedAndHigh() {
        build(2, Kind::kPinned);
        tasks[0].until = &high;
    }
    void begun() override {
        if (tasks[1].ran) high.meet();
    }
    void thread(unsigned i) override {
        if (i == 0)
            CHECK(submit_pinned(g, 0, entry(0)) == Submit::kOk);
        else if (i == 1)
            post(1, Priority::kHigh);
        else
            work(i - 2);
        thread_ends();
    }
};

// A worker is in a batch. A task of HIGH comes ahead of its rest, though the worker may just have found HIGH empty.
template <bool kReady>
struct Ahead : Staged<2, 5> {
    Atomic<int> posted;
    Ahead() {
        build(1);
        give(0, {0, 1, 2});
    }
    void begun() override {
        if (tasks[1].ran && !tasks[2].ran)
            while (posted.load(memory_order_acquire) == 0) yield();
        if (tasks[2].ran) CHECK(tasks[3].ran && tasks[4].ran);
    }
    void thread(unsigned i) override {
        if (i == 0) {
            post(3, Priority::kHigh);
            if (kReady)
                CHECK(submit_ready(g, entry(4), Priority::kHigh) == Submit::kOk);
            else
                post(4, Priority::kHigh);
            posted.store(1, memory_order_release);
        } else {
            worker(0).run_batch();
            work(0);
        }
        thread_ends();
    }
};

// Workers that look around for a while before they sleep.
struct Spinning : Staged<3, 2> {
    Condition second;
    Spinning() {
        options.spin_ns = 3;
        build(2);
        tasks[0].until = &second;
    }
    void begun() override {
        if (tasks[1].ran) second.meet();
    }
    void thread(unsigned i) override {
        if (i == 0) {
            post(0);
            post(1);
        } else {
            work(i - 1);
        }
        thread_ends();
    }
};

}  // namespace

int main() {
    bool ok = true;
    ok &= holds<OneSubmit>("one submit", 20'000);
    ok &= holds<Blocked>("blocked", 20'000);
    ok &= holds<TwoSubmitters>("two submitters", 20'000);
    ok &= holds<Batched>("batched", 20'000);
    ok &= holds<BatchFilled<false>>("batch filled", 20'000);
    ok &= holds<BatchFilled<true>>("batch filled searching", 20'000);
    ok &= holds<TwoSearchers>("two searchers", 20'000);
    ok &= holds<StolenFrom>("stolen from", 20'000);
    ok &= holds<Tidied>("tidied", 20'000);
    ok &= holds<TwoLanes>("two lanes", 20'000);
    ok &= holds<Shared>("shared", 20'000);
    ok &= holds<Pinned>("pinned", 20'000);
    ok &= holds<HelpsStolenFrom>("helps, stolen from", 60'000);
    ok &= holds<Level<Kind::kStealing, Priority::kHigh>>("high", 20'000);
    ok &= holds<Level<Kind::kStealing, Priority::kLow>>("low", 20'000);
    ok &= holds<Level<Kind::kShared, Priority::kHigh>>("high, shared", 20'000);
    ok &= holds<Level<Kind::kPinned, Priority::kLow>>("low, pinned", 20'000);
    ok &= holds<PinnedAndHigh>("pinned and high", 20'000);
    ok &= holds<Ahead<false>>("ahead", 20'000);
    ok &= holds<Ahead<true>>("ahead, ready", 20'000);
    ok &= holds<Spinning>("spinning", 20'000);
    return ok ? 0 : 1;
}
