// The sentinel (src/group/sentinel.h, stuck.cpp): a group whose workers are all busy is listed, and one that sleeps in its task is excused.
#include "model.h"
//
#include "breathing.h"
#include "group/forks.h"

using namespace hc;
using namespace hc::model;

namespace {

// All workers become busy while the sentinel is about to look no more: it is told, or sees it.
struct Watched : Staged<2, 1> {
    Watched() {
        build(1);
        g->stuck.after_ = 1;
        g->stuck.listed_.store(true, memory_order_relaxed);
        g->stuck.calm_ = 1000;
        g->gate.begin_search(1);
        give(0, {0});
    }
    void begun() override { busy = g->gate.all_busy(); }
    bool busy = false;
    void thread(unsigned i) override {
        if (i == 0) {
            worker(0).publish(true);
            CHECK(g->gate.all_busy());
            done.fetch_add(1, memory_order_acq_rel);
        } else {
            g->stuck.look(*g);
            done.fetch_add(1, memory_order_acq_rel);
        }
        if (i == 0) {
            while (done.load(memory_order_acquire) != 2) yield();
            CHECK(g->stuck.listed());
            worker(0).run_batch();
            work(0);
        }
        thread_ends();
    }
    Atomic<int> done;
};

// The sentinel is about to look no more, while a worker comes back from blocking, or there may be one less: all are busy then, and it
// must be told.
template <bool kResized>
struct WatchedBack : Staged<2, 1> {
    WatchedBack() {
        options.spares = 1;
        build(1);
        g->stuck.after_ = 1;
        g->stuck.listed_.store(true, memory_order_relaxed);
        g->stuck.calm_ = 1000;
        give(0, {0});
        if (kResized)
            g->roster.most_.store(2, memory_order_relaxed);
        else
            g->roster.blocked_.store(1, memory_order_relaxed);  // it has said so
        g->gate.add_places(1);
        machine.threads_left = 0;
    }
    Atomic<int> done;
    void thread(unsigned i) override {
        if (i == 0) {
            kResized ? g->resize(1, 1) : worker(0).unblock();
            CHECK(g->gate.all_busy());
        } else {
            g->stuck.look(*g);
        }
        done.fetch_add(1, memory_order_acq_rel);
        if (i == 0) {
            while (done.load(memory_order_acquire) != 2) yield();
            CHECK(g->stuck.listed());
            worker(0).run_batch();
            work(0);
        }
        thread_ends();
    }
};

// A task sleeps, and does not say so, until another has run. The sentinel looks.
struct Excused : Breathing<2> {
    Condition second;
    Excused() {
        options.keep_alive = uint64_t{1} << 40;
        options.stuck_after = 1;
        tasks[0].until = &second;
    }
    void begun() override {
        if (tasks[1].ran) second.meet();
    }
    void run(unsigned i) override {
        if (i == 0) {
            created(1, 1, 1);
            post(0);
            post(1);
        } else {
            await_creation();
            while (!over.met) {
                g->stuck.look(*g);
                yield();
            }
        }
        thread_ends();
    }
};

// The same, but there is no thread for the other until later.
struct ExcusedOwed : Breathing<2> {
    Condition second;
    ExcusedOwed() {
        withheld = 3;
        options.keep_alive = uint64_t{1} << 40;
        options.stuck_after = 1;
        tasks[0].until = &second;
    }
    void begun() override {
        if (tasks[1].ran) second.meet();
    }
    void run(unsigned i) override {
        if (i == 0) {
            created(1, 1, 1);
            post(0);
            post(1);
            while (g->roster.blocked() == 0) yield();
            threads_again();
        } else {
            await_creation();
            while (!over.met && g->roster.blocked() == 0) {
                g->stuck.look(*g);
                yield();
            }
            retry_until_over(*this);
        }
        thread_ends();
    }
};

// There is one spare for two that sleep, while a third says so itself: whoever gets no room leaves nothing behind.
struct ExcusedBeyond : Staged<2, 1> {
    ExcusedBeyond() {
        options.spares = 1;
        build(2);
        tasks[0].refused = 1;
        g->roster.threads_.fetch_sub(2, memory_order_relaxed);  // the workers never come
    }
    void thread(unsigned i) override {
        if (i == 0) {
            for (uint32_t k = 0; k < 2; k++) worker(k).excuse();
            for (uint32_t k = 0; k < 2; k++) worker(k).take_excuse_back();
        } else {
            g->roster.block();
            g->roster.unblock();
        }
    }
    void after() override {
        CHECK(g->roster.blocked_.newest() == 0);
        g->shutdown(false);
        g->unref();
    }
};

// A task sleeps in a stolen fork: the worker has no batch.
struct ExcusedInFork : Breathing<1> {
    Condition taken, ran;
    ExcusedInFork() {
        options.keep_alive = uint64_t{1} << 40;
        options.stuck_after = 1;
    }
    static ExcusedInFork &me() { return *static_cast<ExcusedInFork *>(now); }
    static void forked(Slot *, void *) {
        me().taken.meet();
        me().ran.wait();
    }
    void begun() override { ran.meet(); }
    void run(unsigned i) override {
        if (i == 0) {
            created(1, 1, 1);
            Slot *at = nullptr;
            CHECK(fork_enter(g, &at) == Enter::kOk);
            Frame f;
            at = fork_push(at, &f, forked, nullptr);
            taken.wait();
            post(0);
            ran.wait();
            at = fork_join(at, &f);
            fork_leave(at);
        } else {
            await_creation();
            while (!ran.met) {
                g->stuck.look(*g);
                yield();
            }
        }
        thread_ends();
    }
};

// There is no thread for the worker that a task wants, and later there is one. The first task blocks until the second has run, and
// nobody submits any more, or drains.
struct Owed : Breathing<2> {
    Condition second;
    Owed() {
        withheld = 3;
        options.keep_alive = uint64_t{1} << 40;
        tasks[0].until = &second;
    }
    void begun() override {
        if (tasks[1].ran) second.meet();
    }
    void run(unsigned i) override {
        if (i == 0) {
            created(0, 2);
            post(0);
            post(1);
            threads_again();
        } else {
            await_creation();
            retry_until_over(*this);
        }
        thread_ends();
    }
};

// The same from two sides: who finds it said already need not say so.
struct OwedTwice : Breathing<3, 3> {
    Condition others;
    OwedTwice() {
        withheld = 3;
        options.keep_alive = uint64_t{1} << 40;
        tasks[0].until = &others;
    }
    void begun() override {
        if (tasks[1].ran && tasks[2].ran) others.meet();
    }
    void run(unsigned i) override {
        if (i == 0) {
            created(1, 2);
            post(0);
            machine.ticks += 200'000'000;
        } else {
            await_creation();
        }
        if (i == 2) {
            retry_until_over(*this);
        } else {
            post(static_cast<int>(i) + 1);
            threads_again();
        }
        thread_ends();
    }
};

// The least number is owed, too.
struct OwedLeast : Breathing<1> {
    OwedLeast() {
        withheld = 2;
        options.keep_alive = uint64_t{1} << 40;
    }
    void run(unsigned i) override {
        if (i == 0) {
            created(1, 3);
            g->resize(3, 3);
            threads_again();
            while (g->roster.too_few()) yield();
            post(0);
        } else {
            await_creation();
            retry_until_over(*this);
        }
        thread_ends();
    }
};

// A task is excused as above, and then two more tasks come: who was excused is back, and no more than one may run at once.
struct ExcuseEnds : Breathing<4> {
    Condition excused, second;
    Atomic<int> looked;
    int fresh = 0;
    ExcuseEnds() {
        options.kind = Kind::kShared;
        options.keep_alive = uint64_t{1} << 40;
        options.stuck_after = 1;
    }
    void begun() override {
        if (tasks[1].ran == 0) {
            second.wait();
            while (looked.load(memory_order_acquire) == 0) yield();
            return;
        }
        if (tasks[2].ran + tasks[3].ran == 0) {
            excused.wait();
            return second.meet();
        }
        CHECK(fresh++ == 0);
        yield();
        fresh--;
    }
    void run(unsigned i) override {
        if (i == 0) {
            created(1, 1, 1);
            post(0);
            post(1);
            while (ended < 2) yield();
            post(2);
            post(3);
        } else {
            await_creation();
            while (g->roster.blocked() == 0) {
                g->stuck.look(*g);
                yield();
            }
            looked.store(1, memory_order_release);
            excused.meet();
        }
        thread_ends();
    }
};

}  // namespace

int main() {
    bool ok = true;
    ok &= holds<Watched>("watched", 20'000);
    ok &= holds<WatchedBack<false>>("watched, back", 20'000);
    ok &= holds<WatchedBack<true>>("watched, resized", 20'000);
    ok &= holds<Excused>("excused", 20'000);
    ok &= holds<ExcusedOwed>("excused, owed", 20'000);
    ok &= holds<ExcusedBeyond>("excused beyond the cap", 1'000);
    ok &= holds<ExcusedInFork>("excused in a fork", 20'000);
    ok &= holds<Owed>("owed", 20'000);
    ok &= holds<OwedTwice>("owed twice", 20'000);
    ok &= holds<OwedLeast>("owed, at least", 20'000);
    ok &= holds<ExcuseEnds>("excuse ends", 20'000);
    return ok ? 0 : 1;
}
