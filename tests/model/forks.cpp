// Forks in a group (src/group/forks.cpp): no fork is overlooked by workers that fall asleep, and no join sleeps for ever.
#include "model.h"
//
#include "breathing.h"

using namespace hc;
using namespace hc::model;

namespace {

// A thread that has entered the group forks, and waits for its forks in the worst way: it stands still until others have run
// them. Then it joins.
template <int Workers, int Forks, bool kRearmed = false, bool kWatch = false>
struct Blocked : Staged<Workers + 1, 1> {
    Condition ran[Forks];
    Plain<int> value[Forks];
    int runs[Forks] = {};
    Blocked() {
        this->shut_down_at_end = false;
        this->build(Workers);
        if (kWatch) {  // it has met short forks, and keeps watch, but not much longer
            this->worker(0).fork_pause_ = 1;
            this->worker(0).idle_watches_ = 14;
        }
    }
    static void nothing(Slot *, void *) {}
    static void body(Slot *, void *p) {
        auto &b = *static_cast<Blocked *>(Staged<Workers + 1, 1>::now);
        const auto k = static_cast<Plain<int> *>(p) - b.value;
        b.value[k] = 1;
        CHECK(b.runs[k]++ == 0);
        b.ran[k].meet();
    }
    void thread(unsigned i) override {
        if (i == 0) {
            Slot *at = nullptr;
            CHECK(fork_enter(this->g, &at) == Enter::kOk);
            Slot *const outermost = at;
            Frame f[Forks];
            if (kRearmed) {  // the limit stands, unless somebody takes it away
                at = fork_push(at, &f[0], nothing, nullptr);
                at = fork_join(at, &f[0]);
            }
            for (int k = 0; k < Forks; k++) at = fork_push(at, &f[k], body, &value[k]);
            for (int k = 0; k < Forks; k++) ran[k].wait();
            for (int k = Forks; k-- > 0;) {
                at = fork_join(at, &f[k]);
                CHECK(value[k] == 1);
            }
            CHECK(at == outermost);
            fork_leave(at);
            this->refuse(0);
            this->g->shutdown(false);
        } else {
            this->work(i - 1);
        }
        thread_ends();
    }
};

// A fork whose thief forks as well: who waits for it sleeps, helps, and sleeps again; the inner fork is run by whoever has time.
// `kStill`: the thief stands still until another has run its fork, which only the waiting one can do.
template <int Workers, bool kStill>
struct Nested : Staged<Workers + 1, 1> {
    Condition taken, inner_ran;
    Plain<int> outer{0}, inner{0};
    int runs = 0;
    Nested() {
        this->shut_down_at_end = false;
        this->build(Workers);
    }
    static Nested &me() { return *static_cast<Nested *>(Staged<Workers + 1, 1>::now); }
    static void nothing(Slot *, void *) {}
    static void inner_body(Slot *, void *) {
        me().inner = 1;
        CHECK(me().runs++ == 0);
        me().inner_ran.meet();
    }
    static void outer_body(Slot *at, void *) {
        me().taken.meet();
        Frame f;
        at = fork_push(at, &f, nothing, nullptr);  // after this the limit stands, unless somebody takes it away
        at = fork_join(at, &f);
        at = fork_push(at, &f, inner_body, nullptr);
        if (kStill) me().inner_ran.wait();
        fork_join(at, &f);
        me().outer = me().inner + 1;
    }
    void thread(unsigned i) override {
        if (i == 0) {
            Slot *at = nullptr;
            CHECK(fork_enter(this->g, &at) == Enter::kOk);
            Frame f;
            at = fork_push(at, &f, outer_body, nullptr);
            taken.wait();
            at = fork_join(at, &f);
            CHECK(outer == 2);
            fork_leave(at);
            this->refuse(0);
            this->g->shutdown(false);
        } else {
            this->work(i - 1);
        }
        thread_ends();
    }
};

// The limit stands, for a worker searches. That one finds other work, and is in it until the fork has been run: before it
// begins, it must see the fork, or make its push ring for the worker that sleeps.
struct Leaves : Staged<3, 1> {
    Condition ran;
    Plain<int> value{0};
    Leaves() {
        build(2);
        tasks[0].until = &ran;
        g->gate.begin_search(1);
    }
    static Leaves &me() { return *static_cast<Leaves *>(now); }
    static void nothing(Slot *, void *) {}
    static void forked(Slot *, void *) {
        me().value = 1;
        me().ran.meet();
    }
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
            CHECK(value == 1);
            fork_leave(at);
        } else {
            if (i == 1) {
                Worker &w = worker(0);
                give(0, {0});
                w.publish(true);
                w.run_batch();
            }
            work(i - 1);
        }
        thread_ends();
    }
};

// A worker forks in a task, while another falls asleep.
template <bool kStill>
struct InTask : Staged<3, 1> {
    Condition ran;
    Plain<int> value{0};
    InTask() { build(2); }
    static InTask &me() { return *static_cast<InTask *>(now); }
    static void forked(Slot *, void *) {
        me().value = 1;
        me().ran.meet();
    }
    void begun() override {
        Slot *at = fork_place();
        Frame f;
        at = fork_push(at, &f, forked, nullptr);
        if (kStill) ran.wait();
        fork_join(at, &f);
        CHECK(value == 1);
    }
    void thread(unsigned i) override {
        if (i == 0)
            post(0);
        else
            work(i - 1);
        thread_ends();
    }
};

// A fork wants a worker, and there is no thread for it; later there is one.
struct Owed : Breathing<1> {
    Condition ran;
    Owed() {
        withheld = 4;
        options.keep_alive = uint64_t{1} << 40;
    }
    static void forked(Slot *, void *) { static_cast<Owed *>(now)->ran.meet(); }
    void run(unsigned i) override {
        if (i == 0) {
            created(0, 1);
            Slot *at = nullptr;
            CHECK(fork_enter(g, &at) == Enter::kOk);
            Frame f;
            at = fork_push(at, &f, forked, nullptr);
            threads_again();
            ran.wait();
            at = fork_join(at, &f);
            fork_leave(at);
            refuse(0);
        } else {
            await_creation();
            retry_until_over(*this);
        }
        thread_ends();
    }
};

// A join sleeps, for its fork waits for a task that comes later: another worker comes for that.
struct JoinBlocks : Breathing<2> {
    Condition taken, ran;
    JoinBlocks() { options.keep_alive = uint64_t{1} << 40; }
    static JoinBlocks &me() { return *static_cast<JoinBlocks *>(now); }
    static void forked(Slot *, void *) {
        me().taken.meet();
        me().ran.wait();
    }
    void begun() override {
        if (tasks[1].ran) return ran.meet();
        Slot *at = fork_place();
        Frame f;
        at = fork_push(at, &f, forked, nullptr);
        taken.wait();
        fork_join(at, &f);
    }
    void run(unsigned i) override {
        if (i == 0) {
            created(2, 2, 1);
            post(0);
            taken.wait();
            post(1);
        }
        thread_ends();
    }
    void after() override {
        CHECK(g->roster.blocked() == 0);
        Staged::after();
    }
};

}  // namespace

int main() {
    bool ok = true;
    ok &= holds<Blocked<1, 1>>("blocked", 30'000);
    ok &= holds<Blocked<1, 2>>("blocked, two forks", 30'000);
    ok &= holds<Blocked<2, 2>>("blocked, two workers", 30'000);
    ok &= holds<Blocked<1, 1, true>>("blocked, rearmed", 60'000);
    ok &= holds<Blocked<2, 1, true>>("blocked, rearmed, two workers", 60'000);
    ok &= holds<Blocked<1, 1, true, true>>("blocked, watched", 30'000);
    ok &= holds<Blocked<2, 1, true, true>>("blocked, watched, two workers", 30'000);
    ok &= holds<Nested<1, false>>("nested", 30'000);
    ok &= holds<Nested<1, true>>("nested, still", 150'000);
    ok &= holds<Nested<2, true>>("nested, still, two workers", 30'000);
    ok &= holds<Leaves>("leaves", 30'000);
    ok &= holds<Owed>("owed", 20'000);
    ok &= holds<JoinBlocks>("a join blocks", 30'000);
    ok &= holds<InTask<false>>("in a task", 30'000);
    ok &= holds<InTask<true>>("in a task, still", 30'000);
    return ok ? 0 : 1;
}
