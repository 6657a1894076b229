// Workers that come and go (src/group/roster.h, gate.h): no task waits while there is a place and nobody takes it; whoever blocks,
// leaves, rests, pauses or resizes, and whenever. Workers are started by the real code; when a scenario has started all that it
// may, the system has no more threads, and nothing is lost either.
#include "model.h"
//
#include "breathing.h"

using namespace hc;
using namespace hc::model;

namespace {

// No worker at first: each submit that finds nobody starts one. The first task blocks until the second runs.
struct Grows : Breathing<2> {
    Condition second;
    Grows() {
        options.keep_alive = uint64_t{1} << 40;
        tasks[0].until = &second;
    }
    void begun() override {
        if (tasks[1].ran) second.meet();
    }
    void run(unsigned i) override {
        if (i != 0) return;
        created(0, 2);
        post(0);
        post(1);
        thread_ends();
    }
};

// The same with an array: the one that takes it lets another come for the rest.
struct GrowsForBatch : Breathing<2> {
    Condition second;
    GrowsForBatch() {
        options.keep_alive = uint64_t{1} << 40;
        tasks[0].until = &second;
    }
    void begun() override {
        if (tasks[1].ran) second.meet();
    }
    void run(unsigned i) override {
        if (i != 0) return;
        created(0, 2);
        offer(0, 2);
        thread_ends();
    }
};

// A worker that has nothing to do leaves, while tasks come, singly and from two sides.
template <uint32_t kLeast, Kind kKind>
struct Leaves : Breathing<2> {
    Leaves() { options.kind = kKind; }
    void run(unsigned i) override {
        if (i == 0) {
            created(kLeast, kLeast + 1);
        } else {
            await_creation();
        }
        post(static_cast<int>(i));
        thread_ends();
    }
};

// It leaves while a task waits for another: the one that stays must be told, or the one that left come back.
struct LeavesTheOther : Breathing<3> {
    Condition last;
    LeavesTheOther() { tasks[1].until = &last; }
    void begun() override {
        if (tasks[2].ran + tasks[2].refused != 0) last.meet();
    }
    void run(unsigned i) override {
        if (i != 0) return;
        created(1, 2);
        post(0);
        yield();
        post(1);
        yield();
        post(2);
        thread_ends();
    }
};

// The end of a group that is growing and shrinking.
template <bool kNow>
struct Ends : Breathing<3> {
    Ends() { shut_down_at_end = false; }
    void run(unsigned i) override {
        if (i == 0) {
            created(0, 2);
            g->ref();
            for (int k = 0; k < 3; k++) offer(k);
        } else {
            await_creation();
            g->shutdown(kNow);
            CHECK(g->await(kNever));
            CHECK(g->roster.threads() == 0);
        }
        thread_ends();
        if (i == 0) g->unref();
    }
    void after() override {
        for (auto &t : tasks) CHECK(t.ran + t.refused + t.unrun == 1);
        g->unref();
    }
};

// The only worker's task says that it blocks, and waits for a task that is on its way. It blocks twice: the second time whoever
// came the first time may be resting, or about to.
template <Kind kKind, uint64_t kKeep>
struct Blocks : Breathing<3> {
    Condition first, second;
    Blocks() {
        options.kind = kKind;
        options.keep_alive = kKeep;
    }
    void begun() override {
        if (tasks[1].ran) first.meet();
        if (tasks[2].ran) second.meet();
        if (this_thread == nullptr || tasks[0].ran == 0 || entered++ != 0) return;
        Worker *w = this_thread->self;
        CHECK(w->block());
        first.wait();
        w->unblock();
        CHECK(w->block());
        second.wait();
        w->unblock();
    }
    int entered = 0;
    void run(unsigned i) override {
        if (i != 0) return;
        created(1, 1, 1);
        post(0);
        post(1);
        yield();
        post(2);
        thread_ends();
    }
};

// It waits for what it has in its own batch: the second and the third task, for the lane's first ring has room for one.
struct BlocksBatch : Breathing<3> {
    Condition last;
    BlocksBatch() { options.keep_alive = uint64_t{1} << 40; }
    void begun() override {
        if (tasks[2].ran) return last.meet();
        if (tasks[1].ran == 0) return;
        CHECK(this_thread->self->block());
        last.wait();
        this_thread->self->unblock();
    }
    void run(unsigned i) override {
        if (i != 0) return;
        created(1, 1, 1);
        offer(0, 3);
        thread_ends();
    }
};

// Two block, and there is one spare: the first gets it, the second its room when it comes back, for a third task.
struct BeyondTheCap : Breathing<3> {
    Condition first, last;
    int entered = 0;
    BeyondTheCap() { options.keep_alive = uint64_t{1} << 40; }
    void begun() override {
        if (this_thread == nullptr) return;
        Worker *w = this_thread->self;
        switch (entered++) {
            case 0:
                CHECK(w->block());
                first.wait();
                return w->unblock();
            case 1:
                CHECK(!w->block());
                first.meet();
                last.wait();
                return w->unblock();
            default: last.meet();
        }
    }
    void run(unsigned i) override {
        if (i != 0) return;
        created(1, 1, 1);
        offer(0, 3);
        thread_ends();
    }
};

// Workers block and come back at once: two are too many for a moment, nobody rests while a task waits, and nobody begins
// a task (but the next of its batch) while another has just begun one, and has not blocked.
template <Kind kKind, uint64_t kKeep>
struct BackAtOnce : Breathing<4> {
    int fresh = 0;
    BackAtOnce() {
        options.kind = kKind;
        options.keep_alive = kKeep;
    }
    void begun() override {
        Worker *w = this_thread == nullptr ? nullptr : this_thread->self;
        CHECK(fresh++ == 0 || kKind != Kind::kShared);
        yield();
        fresh--;  // before the place is free
        if (w == nullptr) return;
        w->block();
        yield();
        w->unblock();
    }
    void run(unsigned i) override {
        if (i != 0) return;
        created(1, 1, 4);
        for (int k = 0; k < 4; k++) post(k);
        thread_ends();
    }
    void after() override {
        CHECK(g->roster.blocked() == 0);
        Staged::after();
    }
};

// Paused and resumed, while tasks come and a batch is under way.
template <Kind kKind>
struct Pauses : Breathing<4> {
    Pauses() { options.kind = kKind; }
    void run(unsigned i) override {
        if (i == 0) {
            created(kKind == Kind::kPinned ? 2 : 1, 2);
            offer(0, 3);
            post(3);
        } else {
            await_creation();
            g->pause();
            yield();
            g->resume();
        }
        thread_ends();
    }
};

// There is nobody, a task comes, and the group goes on. Its last worker left when the submitter had seen it.
struct GoesOn : Breathing<1> {
    Condition paused;
    void run(unsigned i) override {
        if (i == 0) {
            created(0, 1);
            paused.wait();
            g->gate.lower(Gate::kEmpty);
            post(0);
        } else {
            await_creation();
            g->pause();
            paused.meet();
            g->resume();
        }
        thread_ends();
    }
};

// Fewer, then more.
struct Resizes : Breathing<3> {
    Condition last;
    Resizes() {
        options.keep_alive = uint64_t{1} << 40;
        tasks[1].until = &last;
    }
    void begun() override {
        if (tasks[2].ran) last.meet();
    }
    void run(unsigned i) override {
        if (i == 0) {
            created(2, 2);
            for (int k = 0; k < 3; k++) post(k);
        } else {
            await_creation();
            g->resize(1, 1);
            yield();
            g->resize(1, 2);
        }
        thread_ends();
    }
};

// One of two searchers steps back, while the other falls asleep and a task comes that is left to them.
struct StepsBack : Staged<3, 1> {
    StepsBack() {
        build(2);
        g->roster.most_.store(1, memory_order_relaxed);
        g->roster.surplus_.store(1, memory_order_relaxed);
    }
    void thread(unsigned i) override {
        if (i == 0)
            post(0);
        else
            work(i - 1);
        thread_ends();
    }
};

// It has run the last task, and another drains.
struct StepsBackLast : Staged<3, 1> {
    StepsBackLast() {
        shut_down_at_end = false;
        build(2);
        g->roster.most_.store(1, memory_order_relaxed);
        g->roster.surplus_.store(1, memory_order_relaxed);
        give(0, {0});
    }
    void thread(unsigned i) override {
        if (i == 0) {
            CHECK(g->drain(kNever));
            CHECK(tasks[0].result == 1);
            g->shutdown(false);
        } else {
            if (i == 1) {
                worker(0).publish(false);
                worker(0).run_batch();
            }
            work(i - 1);
        }
        thread_ends();
    }
};

// There is one too many while it is in its first task: it goes to rest in the middle of its batch, while the other is asleep, or falls
// asleep, and what it leaves is the other's. A batch of timers, of which nobody was told; one that does not rest for long; a pause.
enum class InBatch { kLong, kTimers, kBriefly, kPaused };
template <InBatch kHow>
struct StepsBackInBatch : Staged<3, 3> {
    StepsBackInBatch() {
        options.keep_alive = kHow == InBatch::kBriefly ? 2 : uint64_t{1} << 40;
        build(2);
        if (kHow == InBatch::kTimers) {
            worker(0).was_due_ = true;
            worker(0).pace_ = 16;  // the batch counts as a short one
            g->timers.watch.covered_[0].store(0, memory_order_relaxed);
        }
    }
    void begun() override {
        if (tasks[1].ran + tasks[2].ran != 0) {
            if (rl::thread_index() == 0) CHECK(g->roster.surplus_.newest() == 0);  // the other has stepped back
            return;
        }
        g->roster.most_.store(1, memory_order_relaxed);
        g->roster.surplus_.store(1, memory_order_relaxed);
    }
    void thread(unsigned i) override {
        if (i == 0) {
            give(0, {0, 1, 2});
            worker(0).publish(false);
            worker(0).run_batch();
        }
        if (i < 2) work(i);
        if (i == 2 && kHow == InBatch::kPaused) {
            g->pause();
            yield();
            g->resume();
        }
        thread_ends();
    }
};

// More workers at once, though there is nothing to do.
struct MoreAtLeast : Breathing<1> {
    MoreAtLeast() { options.keep_alive = uint64_t{1} << 40; }
    void run(unsigned i) override {
        if (i != 0) return;
        created(0, 1, 1);
        g->resize(1, 1);
        CHECK(g->roster.active_.load(memory_order_relaxed) == 1);
        g->resize(2, 2);
        CHECK(g->roster.active_.load(memory_order_relaxed) == 2);
        post(0);
        thread_ends();
    }
};

// None at least: those that sleep without an end hear of it, and leave.
struct FewerAtLeast : Breathing<1, 1> {
    void run(unsigned) override {
        created(2, 2);
        g->resize(0, 2);
        while (g->roster.threads() != 0) {
            static_cast<void>(hc::now());
            yield();
        }
        post(0);
        thread_ends();
    }
};

}  // namespace

int main() {
    bool ok = true;
    ok &= holds<Grows>("grows", 20'000);
    ok &= holds<GrowsForBatch>("grows for a batch", 20'000);
    ok &= holds<Leaves<0, Kind::kStealing>>("leaves", 20'000);
    ok &= holds<Leaves<1, Kind::kStealing>>("leaves, one stays", 20'000);
    ok &= holds<Leaves<0, Kind::kShared>>("leaves, shared", 20'000);
    ok &= holds<LeavesTheOther>("leaves the other", 20'000);
    ok &= holds<Ends<false>>("ends", 20'000);
    ok &= holds<Ends<true>>("ends, now", 20'000);
    constexpr uint64_t kLong = uint64_t{1} << 40;
    ok &= holds<Blocks<Kind::kStealing, kLong>>("blocks", 20'000);
    ok &= holds<Blocks<Kind::kStealing, 2>>("blocks, rests briefly", 20'000);
    ok &= holds<Blocks<Kind::kShared, kLong>>("blocks, shared", 20'000);
    ok &= holds<BlocksBatch>("blocks, with a batch", 20'000);
    ok &= holds<BeyondTheCap>("beyond the cap", 20'000);
    ok &= holds<BackAtOnce<Kind::kStealing, kLong>>("back at once", 20'000);
    ok &= holds<BackAtOnce<Kind::kStealing, 2>>("back at once, briefly", 20'000);
    ok &= holds<BackAtOnce<Kind::kShared, 2>>("back at once, shared", 20'000);
    ok &= holds<Pauses<Kind::kStealing>>("pauses", 20'000);
    ok &= holds<Pauses<Kind::kPinned>>("pauses, pinned", 20'000);
    ok &= holds<GoesOn>("goes on", 20'000);
    ok &= holds<Resizes>("resizes", 20'000);
    ok &= holds<StepsBack>("steps back", 20'000);
    ok &= holds<StepsBackLast>("steps back, last", 20'000);
    ok &= holds<StepsBackInBatch<InBatch::kLong>>("steps back in a batch", 20'000);
    ok &= holds<StepsBackInBatch<InBatch::kTimers>>("steps back, timers", 20'000);
    ok &= holds<StepsBackInBatch<InBatch::kBriefly>>("steps back, briefly", 20'000);
    ok &= holds<StepsBackInBatch<InBatch::kPaused>>("steps back, paused", 20'000);
    ok &= holds<MoreAtLeast>("more at least", 20'000);
    ok &= holds<FewerAtLeast>("fewer at least", 20'000);
    return ok ? 0 : 1;
}
