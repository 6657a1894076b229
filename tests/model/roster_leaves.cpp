// Workers that leave (src/group/roster.h), while something comes that is no task in a lane: a timer, a fork, a pause, the end; or while
// the system has no thread.
#include "model.h"
//
#include "breathing.h"
#include "group/forks.h"

using namespace hc;
using namespace hc::model;

namespace {

// Timers are armed, by two threads.
struct Armed : Breathing<4> {
    void arm(int i, uint64_t delay) {
        const uint64_t at = hc::now();
        CHECK(schedule(g, entry(i), at + delay, at) == Submit::kOk);
    }
    void run(unsigned i) override {
        if (i == 0) {
            created(0, 1);
            post(0);
            arm(1, 3);
        } else {
            await_creation();
            arm(2, 2);
            arm(3, 4);
        }
        thread_ends();
    }
};

// A fork is pushed, and its owner stands still until it has been run. The only worker leaves, or blocks; or
// the group is paused, and goes on; or the worker is in a task until then, and there may be one more.
enum class While { kLeaves, kBlocks, kPaused, kResized };
template <While kHow>
struct Forked : Breathing<1> {
    static constexpr bool kTask = kHow == While::kBlocks || kHow == While::kResized;
    Condition ran;
    Plain<int> value{0};
    static Forked &me() { return *static_cast<Forked *>(now); }
    static void nothing(Slot *, void *) {}
    static void forked(Slot *, void *) {
        me().value = 1;
        me().ran.meet();
    }
    void begun() override {
        const bool blocks = kHow == While::kBlocks;
        if (blocks) CHECK(this_thread->self->block());
        ran.wait();
        if (blocks) this_thread->self->unblock();
    }
    void other() {
        await_creation();
        if (kHow == While::kResized) return g->resize(1, 2);
        if (kHow != While::kPaused) return;
        g->pause();
        yield();
        g->resume();
    }
    void run(unsigned i) override {
        if (i != 0) return other();
        created(kTask, 1, 1);
        if (kTask) post(0);
        Slot *at = nullptr;
        CHECK(fork_enter(g, &at) == Enter::kOk);
        Frame f;
        at = fork_push(at, &f, nothing, nullptr);  // a worker comes; after this the limit stands, unless it is taken away
        at = fork_join(at, &f);
        yield();
        at = fork_push(at, &f, forked, nullptr);
        ran.wait();
        at = fork_join(at, &f);
        CHECK(value == 1);
        fork_leave(at);
        if (!kTask) refuse(0);
        thread_ends();
    }
};

// The second thread is the only worker: it searches, and is about to leave.
template <int Tasks, int Threads = 2>
struct Leaving : Breathing<Tasks, Threads> {
    void created(uint32_t most) {
        this->create(0, most);
        machine.threads_left -= this->withheld;
        Group &group = *this->g;
        CHECK(group.gate.come());
        Worker *w = group.roster.make(group, 0);
        w->hired = true;
        group.roster.arrived();
        group.roster.threads_.fetch_add(1, memory_order_relaxed);
        this->ready.store(1, memory_order_release);
    }
    void leave() {
        this->await_creation();
        Worker &w = this->worker(0);
        CHECK(w.prepare());
        if (!w.leave() || this->g->worker_gone(w)) Worker::body(&w);
    }
};

// The limit stands, for the worker searches.
struct ForkedLeft : Leaving<1> {
    Condition ran;
    static void nothing(Slot *, void *) {}
    static void forked(Slot *, void *) { static_cast<ForkedLeft *>(now)->ran.meet(); }
    void run(unsigned i) override {
        if (i == 0) {
            created(1);
            Slot *at = nullptr;
            CHECK(fork_enter(g, &at) == Enter::kOk);
            Frame f;
            at = fork_push(at, &f, nothing, nullptr);
            at = fork_join(at, &f);
            at = fork_push(at, &f, forked, nullptr);
            ran.wait();
            at = fork_join(at, &f);
            fork_leave(at);
            refuse(0);
        } else {
            leave();
        }
        thread_ends();
    }
};

// A task comes while the group ends, in a lane that is not listed yet.
struct LeftAtEnd : Leaving<1, 3> {
    LeftAtEnd() { shut_down_at_end = false; }
    void run(unsigned i) override {
        if (i == 0) {
            created(1);
            g->ref();
            offer(0);
        }
        if (i == 1) leave();
        if (i == 2) {
            await_creation();
            g->shutdown(false);
            CHECK(g->await(kNever));
        }
        thread_ends();
        if (i == 0) g->unref();
    }
};

// There is no thread for another: it turns back for the one, and is there for the next.
struct LeftStarved : Leaving<2> {
    LeftStarved() {
        withheld = 4;
        options.keep_alive = uint64_t{1} << 40;
    }
    void run(unsigned i) override {
        if (i == 0) {
            created(2);
            offer(0);
            pass(20);
            offer(1);
            threads_again();
            CHECK(g->drain(kNever));
        } else {
            leave();
        }
        thread_ends();
    }
};

// The same, and nobody submits or drains any more: who could not get one has said so (sentinel.h).
struct LeftOwed : Leaving<1, 3> {
    LeftOwed() {
        withheld = 4;
        options.keep_alive = uint64_t{1} << 40;
    }
    void run(unsigned i) override {
        if (i == 0) {
            created(1);
            offer(0);
            threads_again();
        }
        if (i == 1) leave();
        if (i == 2) {
            await_creation();
            retry_until_over(*this);
        }
        thread_ends();
    }
};

// Two submit, and there is no thread but that one. If it turns back, it is there for both, also for the one that could not get another
// because the other had called it back meanwhile.
struct LeftForBoth : Leaving<2, 3> {
    Atomic<int> offered;
    bool turned_back = false;
    LeftForBoth() {
        withheld = 4;
        options.keep_alive = uint64_t{1} << 40;
    }
    void run(unsigned i) override {
        if (i == 0) {
            created(2);
            offer(0);
            offered.store(1, memory_order_release);
        }
        if (i == 1) leave();
        if (i == 2) {
            await_creation();
            offer(1);
            while (offered.load(memory_order_acquire) == 0) yield();
            threads_again();
            retry_until_over(*this);
        }
        thread_ends();
    }
    void begun() override { turned_back |= withheld != 0; }
    void after() override {
        if (turned_back) CHECK(tasks[0].refused + tasks[1].refused == 0);
        Leaving::after();
    }
};

// The group is paused, and goes on, while a worker that has met short forks falls asleep: it must keep watch then.
struct ShortForks : Staged<3, 1> {
    Condition ran;
    ShortForks() {
        shut_down_at_end = false;
        build(1);
        worker(0).fork_pause_ = 1;
        g->gate.raise(Gate::kPaused);
    }
    static void nothing(Slot *, void *) {}
    static void forked(Slot *, void *) { static_cast<ShortForks *>(now)->ran.meet(); }
    void thread(unsigned i) override {
        if (i == 0) {
            Slot *at = nullptr;
            CHECK(fork_enter(g, &at) == Enter::kOk);
            Frame f;
            at = fork_push(at, &f, nothing, nullptr);
            at = fork_join(at, &f);
            at = fork_push(at, &f, forked, nullptr);
            ran.wait();
            at = fork_join(at, &f);
            fork_leave(at);
            refuse(0);
            g->shutdown(false);
        }
        if (i == 1) g->resume();
        if (i == 2) work(0);
        thread_ends();
    }
};

// It is paused, and goes on.
struct Paused : Breathing<3> {
    void run(unsigned i) override {
        if (i == 0) {
            created(0, 1);
            for (int k = 0; k < 3; k++) post(k);
        } else {
            await_creation();
            g->pause();
            yield();
            g->resume();
        }
        thread_ends();
    }
};

// The hook of one that leaves submits, while another may have left word that it is to turn back.
struct FromHook : Breathing<3> {
    int stops = 0;
    FromHook() {
        options.on_thread_stop = [](void *, uint32_t) {
            auto &s = *static_cast<FromHook *>(now);
            if (s.stops++ == 0) s.offer(2);
        };
    }
    void run(unsigned i) override {
        if (i == 0)
            created(0, 1);
        else
            await_creation();
        post(static_cast<int>(i));
        thread_ends();
    }
};

// It is resized, down and up.
struct Resized : Breathing<4> {
    void run(unsigned i) override {
        if (i == 0) {
            created(0, 2);
            for (int k = 0; k < 3; k++) post(k);
        } else {
            await_creation();
            g->resize(0, 1);
            post(3);
            g->resize(1, 2);
        }
        thread_ends();
    }
};

// There is one thread, and it may leave: a task may then wait for another, until somebody comes who needs it.
struct StarvedDrain : Breathing<3, 1> {
    StarvedDrain() { withheld = 3; }
    void run(unsigned) override {
        created(0, 2);
        for (int k = 0; k < 3; k++) offer(k);
        threads_again();
        CHECK(g->drain(kNever));
        for (auto &t : tasks) CHECK(t.refused == 1 || t.result == 1);
        thread_ends();
    }
};

// The same at the end: what nobody can run is handed back.
struct StarvedEnd : Breathing<4, 1> {
    StarvedEnd() {
        withheld = 3;
        shut_down_at_end = false;
    }
    void run(unsigned) override {
        created(0, 2);
        for (int k = 0; k < 3; k++) offer(k);
        const uint64_t at = hc::now();
        if (schedule(g, entry(3), at + kFarOff, at) != Submit::kOk) refuse(3);
        g->shutdown(false);
        CHECK(g->await(kNever));
        thread_ends();
    }
};

// One that was to turn back has no memory for it: its place is free again. `kOwed`: nobody drains.
template <bool kOwed>
struct Forgotten : Breathing<3, 1> {
    void run(unsigned) override {
        created(0, 1);
        offer(0);
        machine.no_memory = true;
        offer(1);
        offer(2);
        pass(4);
        machine.no_memory = false;
        machine.ticks += 200'000'000;
        if (kOwed)
            retry_until_over(*this);
        else
            CHECK(g->drain(kNever));
        thread_ends();
    }
};

}  // namespace

int main() {
    bool ok = true;
    ok &= holds<Armed>("armed", 20'000);
    ok &= holds<Forked<While::kLeaves>>("forked", 50'000);
    ok &= holds<Forked<While::kBlocks>>("forked, blocked", 50'000);
    ok &= holds<Forked<While::kPaused>>("forked, paused", 50'000);
    ok &= holds<Forked<While::kResized>>("forked, resized", 50'000);
    ok &= holds<ForkedLeft>("forked, left", 20'000);
    ok &= holds<LeftAtEnd>("left at the end", 20'000);
    ok &= holds<LeftStarved>("left, starved", 20'000);
    ok &= holds<LeftForBoth>("left, for both", 20'000);
    ok &= holds<ShortForks>("short forks, paused", 50'000);
    ok &= holds<Paused>("paused", 20'000);
    ok &= holds<FromHook>("from a hook", 20'000);
    ok &= holds<Resized>("resized", 20'000);
    ok &= holds<StarvedDrain>("starved, drained", 20'000);
    ok &= holds<Forgotten<false>>("forgotten", 20'000);
    ok &= holds<Forgotten<true>>("forgotten, owed", 20'000);
    ok &= holds<LeftOwed>("left, owed", 20'000);
    ok &= holds<StarvedEnd>("starved, ended", 20'000);
    return ok ? 0 : 1;
}
