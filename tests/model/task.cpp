// Held tasks (src/task/task.h, home.h, src/group/tasks.cpp, wait.cpp): each runs or is dropped once, whoever waits learns of it and
// of what it did, and nothing is touched after its last reference.
#include "model.h"
//
#include "staged.h"

using namespace hc;
using namespace hc::model;

namespace {

// A group with a worker, and held tasks that say what happened to them.
template <int Threads, int Held>
struct Tasks : Staged<Threads, 1> {
    struct Told {
        Plain<int> value{0};
        int ran = 0, dropped = 0;
        Plain<int> *sees = nullptr;  // what its predecessor has written
    } told[Held];
    hc::Task *held[Held] = {};
    Atomic<int> ends;

    explicit Tasks(uint64_t capacity = 0) {
        this->Staged<Threads, 1>::options.capacity = capacity;
        this->shut_down_at_end = false;
        this->build(1);
        this->tasks[0].refused = 1;
    }
    static void body(void *p) {
        auto *t = static_cast<Told *>(p);
        CHECK(t->ran++ == 0);
        if (t->sees != nullptr) CHECK(*t->sees != 0);
        t->value = 1;
    }
    static void drop(void *p, int32_t) {
        auto *t = static_cast<Told *>(p);
        CHECK(t->dropped++ == 0);
        t->value = 2;
    }
    TaskOptions options(int i) {
        TaskOptions o;
        o.call = Entry(body, &told[i]);
        o.drop = drop;
        return o;
    }
    void submit_held(int i) { CHECK(submit_task(this->g, options(i), &held[i]) == Submit::kOk); }
    void then(int before, int i) {
        told[i].sees = &told[before].value;
        CHECK(task_then(held[before], options(i), &held[i]) == Submit::kOk);
    }
    // Waited for, and let go at once.
    void wait(int i, uint32_t how = 0) {
        CHECK(wait_for_task(held[i], kNever, how) == Waited::kDone);
        CHECK(told[i].ran + told[i].dropped == 1);
        CHECK(told[i].value == (told[i].ran ? 1 : 2));
        CHECK((held[i]->outcome == 0) == (told[i].ran == 1));
        task_unref(held[i]);
    }
    void close() {
        this->g->shutdown(false);
        CHECK(this->g->await(kNever));
    }
    // Every thread but the workers calls it when it is done; the last one closes.
    void ended(int of) {
        if (ends.fetch_add(1, memory_order_acq_rel) + 1 == of) close();
        thread_ends();
    }
};

// One waits for the task, helping or not; one cancels it; the worker runs it.
template <uint32_t kHow>
struct Latch : Tasks<3, 1> {
    Atomic<int> there;
    void thread(unsigned i) override {
        if (i == 0) {
            submit_held(0);
            held[0]->handles.fetch_add(1, memory_order_relaxed);
            there.store(1, memory_order_release);
            wait(0, kHow);
            return ended(2);
        }
        if (i == 1) {
            while (there.load(memory_order_acquire) == 0) yield();
            const auto was = task_cancel(held[0]);
            if (was == hc::Task::kQueued) CHECK(told[0].dropped == 1);
            if (was == hc::Task::kEnded) CHECK(told[0].value != 0);
            task_unref(held[0]);
            return ended(2);
        }
        work(0);
        thread_ends();
    }
};

// Who drains sees what a task did that its waiter has run; with kAny, one that the waiter took out of a lane.
template <bool kAny>
struct HelpedDrained : Tasks<3, 1> {
    Atomic<int> there;
    hc::Task *promise = nullptr;
    void thread(unsigned i) override {
        if (i == 0) {
            if (kAny) {
                CHECK(task_promise(g, &promise) == Submit::kOk);
                CHECK(submit(g, Entry(body, &told[0])) == Submit::kOk);
            } else {
                submit_held(0);
            }
            there.store(1, memory_order_release);
            if (kAny) {
                CHECK(wait_for_task(promise, kNever, kHelpAny) == Waited::kDone);
                task_unref(promise);
            } else {
                wait(0);
            }
            return ended(2);
        }
        if (i == 1) {
            while (there.load(memory_order_acquire) == 0) yield();
            CHECK(g->drain(kNever));
            CHECK(told[0].ran == 1 && told[0].value == 1);
            if (kAny) CHECK(task_complete(promise, 0, nullptr, nullptr));
            return ended(2);
        }
        work(0);
        thread_ends();
    }
};

// A task forks, and stands still until another has run its fork: that can only be who waits for the task, asleep or not.
struct ForkInTask : Tasks<2, 1> {
    Condition ran;
    Plain<int> value{0};
    static ForkInTask &me() { return *static_cast<ForkInTask *>(now); }
    static void nothing(Slot *, void *) {}
    static void forked(Slot *, void *) {
        me().value = 1;
        me().ran.meet();
    }
    static void forks(void *p) {
        Slot *at = fork_place();
        Frame f;
        at = fork_join(fork_push(at, &f, nothing, nullptr), &f);  // the limit stands, unless somebody takes it away
        at = fork_push(at, &f, forked, nullptr);
        me().ran.wait();
        fork_join(at, &f);
        CHECK(me().value == 1);
        body(p);
    }
    void thread(unsigned i) override {
        if (i == 1) {
            work(0);
            return thread_ends();
        }
        TaskOptions o = options(0);
        o.call.fn = forks;
        o.flags = kWorkerOnly;
        CHECK(submit_task(g, o, &held[0]) == Submit::kOk);
        wait(0);
        ended(1);
    }
};

// The same, and two wait: one may run the task itself, in a deque that is new, and the other its fork.
struct TwoHelp : Tasks<3, 1> {
    Atomic<int> there;
    Condition ran;
    Plain<int> value{0};
    static TwoHelp &me() { return *static_cast<TwoHelp *>(now); }
    static void forked(Slot *, void *) {
        me().value = 1;
        me().ran.meet();
    }
    static void forks(void *p) {
        Frame f;
        Slot *at = fork_push(fork_place(), &f, forked, nullptr);
        me().ran.wait();
        fork_join(at, &f);
        CHECK(me().value == 1);
        body(p);
    }
    void thread(unsigned i) override {
        if (i == 2) {
            work(0);
            return thread_ends();
        }
        if (i == 0) {
            TaskOptions o = options(0);
            o.call.fn = forks;
            CHECK(submit_task(g, o, &held[0]) == Submit::kOk);
            held[0]->handles.fetch_add(1, memory_order_relaxed);
            there.store(1, memory_order_release);
        }
        while (there.load(memory_order_acquire) == 0) yield();
        wait(0);
        ended(2);
    }
};

// A full group: what a scope has accepted is run by somebody, though the note of each may be refused after another's has taken it.
struct ScopeFull : Tasks<3, 3> {
    Scope *scope = nullptr;
    bool refused[3] = {};
    ScopeFull() : Tasks(1) {
        scope = memory::make<Scope>(g);
        g->ref();
    }
    void add(int k) {
        bool cancelled = false;
        const Submit s = scope->submit(options(k), &cancelled);
        CHECK(!cancelled && (s == Submit::kOk || s == Submit::kFull));
        refused[k] = s == Submit::kFull;
    }
    void thread(unsigned i) override {
        if (i == 2) {
            work(0);
            return thread_ends();
        }
        add(static_cast<int>(i));
        if (i == 1) add(2);
        if (ends.fetch_add(1, memory_order_acq_rel) == 1) {
            CHECK(wait_for_scope(scope, kNever, kNoHelp) == Waited::kDone);
            for (int k = 0; k < 3; k++) CHECK(told[k].ran == (refused[k] ? 0 : 1));
            scope->unref();
            close();
        }
        thread_ends();
    }
};

// Two wait for one task, without helping: both are woken.
struct TwoWaiters : Tasks<3, 1> {
    Atomic<int> there;
    void thread(unsigned i) override {
        if (i == 2) {
            work(0);
            return thread_ends();
        }
        if (i == 0) {
            submit_held(0);
            held[0]->handles.fetch_add(1, memory_order_relaxed);
            there.store(1, memory_order_release);
        }
        while (there.load(memory_order_acquire) == 0) yield();
        wait(0, kNoHelp);
        ended(2);
    }
};

// A task that follows another: what the first did is visible to it, whoever runs either.
template <bool kCancelled>
struct Followed : Tasks<3, 2> {
    Atomic<int> there;
    void thread(unsigned i) override {
        if (i == 0) {
            submit_held(0);
            held[0]->handles.fetch_add(1, memory_order_relaxed);
            there.store(1, memory_order_release);
            then(0, 1);
            wait(1);
            task_unref(held[0]);
            return ended(2);
        }
        if (i == 1) {
            while (there.load(memory_order_acquire) == 0) yield();
            if (kCancelled) task_cancel(held[0]);
            wait(0);
            return ended(2);
        }
        work(0);
        thread_ends();
    }
};

// All of two, and any of two.
template <hc::Task::Body kBody>
struct Joined : Tasks<2, 2> {
    void thread(unsigned i) override {
        if (i == 1) {
            work(0);
            return thread_ends();
        }
        submit_held(0);
        submit_held(1);
        hc::Task *joined = nullptr;
        CHECK(task_after(kBody, held, 2, &joined) == Submit::kOk);
        if (kBody == hc::Task::Body::kAny) task_cancel(held[0]);
        CHECK(wait_for_task(joined, kNever, 0) == Waited::kDone);
        const auto done = [&](int k) { return told[k].ran + told[k].dropped == 1 && told[k].value != 0; };
        if (kBody == hc::Task::Body::kAll) {
            CHECK(done(0) && done(1) && joined->outcome == 0);
        } else {
            auto *winner = static_cast<hc::Task *>(joined->result);
            CHECK(winner == held[0] || winner == held[1]);
            CHECK(done(winner == held[0] ? 0 : 1) && joined->outcome == winner->outcome);
        }
        wait(0);
        task_unref(joined);
        wait(1);
        ended(1);
    }
};

// A promise that two complete, or that nobody does; what follows it runs in either case.
template <bool kDropped>
struct Promise : Tasks<3, 1> {
    Plain<int> result{0};
    hc::Task *promise = nullptr;
    Atomic<int> there;
    void thread(unsigned i) override {
        if (i == 2) {
            work(0);
            return thread_ends();
        }
        if (i == 0) {
            CHECK(task_promise(g, &promise) == Submit::kOk);
            told[0].sees = &result;
            if (!kDropped) result = 1;
            CHECK(task_then(promise, options(0), &held[0]) == Submit::kOk);
            if (!kDropped) promise->handles.fetch_add(1, memory_order_relaxed);
            there.store(1, memory_order_release);
            if (!kDropped) complete();
            wait(0);
        } else {
            while (there.load(memory_order_acquire) == 0) yield();
            if (kDropped) {
                result = 1;
                task_unref(promise);
            } else {
                complete();
            }
        }
        ended(2);
    }
    void complete() {
        const bool first = task_complete(promise, 0, nullptr, nullptr);
        if (!first) CHECK(promise->stage() != hc::Task::kWaiting);
        task_unref(promise);
    }
};

// Handles outlive their group: its end and the last of them, at once; and a handle that asks for its group meanwhile.
struct Outlives : Tasks<3, 1> {
    Atomic<int> there;
    void thread(unsigned i) override {
        if (i == 2) {
            work(0);
            return thread_ends();
        }
        if (i == 0) {
            submit_held(0);
            there.store(1, memory_order_release);
            close();
            thread_ends();
            g->unref();
            return;
        }
        while (there.load(memory_order_acquire) == 0) yield();
        {
            GroupPin pinned(held[0]->home);
            if (pinned.get() != nullptr) CHECK(pinned.get() == g);
        }
        wait(0);
        thread_ends();
    }
    void after() override { CHECK(told[0].ran == 1); }
};

// A scope's two tasks, a waiter who helps, and one who cancels or drains.
template <bool kCancel>
struct Scoped : Tasks<3, 2> {
    Scope *scope = nullptr;
    Atomic<int> there;
    bool refused[2] = {};
    Scoped() {
        scope = memory::make<Scope>(g);
        g->ref();
    }
    void thread(unsigned i) override {
        if (i == 2) {
            work(0);
            return thread_ends();
        }
        if (i == 0) {
            for (int k = 0; k < 2; k++) {
                bool cancelled = false;
                CHECK(scope->submit(options(k), &cancelled) == Submit::kOk);
                refused[k] = cancelled;
                there.store(1, memory_order_release);
            }
            CHECK(wait_for_scope(scope, kNever, kCancel ? kNoHelp : 0) == Waited::kDone);
            for (int k = 0; k < 2; k++) {
                CHECK(told[k].ran + told[k].dropped == (refused[k] ? 0 : 1));
                if (!refused[k]) CHECK(told[k].value == (told[k].ran ? 1 : 2));
            }
        } else {
            while (there.load(memory_order_acquire) == 0) yield();
            if (kCancel)
                scope->cancel();
            else
                CHECK(g->drain(kNever));
        }
        if (ends.fetch_add(1, memory_order_acq_rel) == 1) {
            CHECK(scope->idle());
            scope->unref();
            close();
        }
        thread_ends();
    }
};

}  // namespace

int main() {
    bool ok = true;
    ok &= holds<Latch<0>>("latch", 30'000);
    ok &= holds<Latch<kNoHelp>>("latch, no help", 30'000);
    ok &= holds<HelpedDrained<false>>("helped, drained", 30'000);
    ok &= holds<HelpedDrained<true>>("helped any, drained", 30'000);
    ok &= holds<ForkInTask>("fork in a task", 30'000);
    ok &= holds<TwoHelp>("two help", 60'000);
    ok &= holds<ScopeFull>("scope, full", 60'000);
    ok &= holds<TwoWaiters>("two waiters", 30'000);
    ok &= holds<Followed<false>>("followed", 30'000);
    ok &= holds<Followed<true>>("followed, cancelled", 30'000);
    ok &= holds<Joined<hc::Task::Body::kAll>>("all", 30'000);
    ok &= holds<Joined<hc::Task::Body::kAny>>("any", 30'000);
    ok &= holds<Promise<false>>("promise", 30'000);
    ok &= holds<Promise<true>>("promise, dropped", 30'000);
    ok &= holds<Outlives>("outlives", 30'000);
    ok &= holds<Scoped<false>>("scope", 30'000);
    ok &= holds<Scoped<true>>("scope, cancelled", 30'000);
    return ok ? 0 : 1;
}
