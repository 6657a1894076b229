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

    explicit Tasks(uint64_t capacity = 0, Kind kind = Kind::kStealing) {
        this->Staged<Threads, 1>::options.capacity = capacity;
        this->shut_down_at_end = false;
        this->build(1, kind);
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
        CHECK((held[i]->outcome == 0) == (told[i].ran == 1) && held[i]->result == nullptr);
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

// The same, and the only task that the waiter takes out of a lane is what it waits for: nobody else tells who drains.
struct CompletesDrained : Tasks<3, 1> {
    Atomic<int> there;
    hc::Task *promise = nullptr;
    static void completes(void *p) {
        body(p);
        CHECK(task_complete(static_cast<CompletesDrained *>(now)->promise, 0, nullptr, nullptr));
    }
    void thread(unsigned i) override {
        if (i == 0) {
            CHECK(task_promise(g, &promise) == Submit::kOk);
            CHECK(submit(g, Entry(completes, &told[0])) == Submit::kOk);
            there.store(1, memory_order_release);
            CHECK(wait_for_task(promise, kNever, kHelpAny) == Waited::kDone);
            task_unref(promise);
            return ended(2);
        }
        if (i == 1) {
            while (there.load(memory_order_acquire) == 0) yield();
            CHECK(g->drain(kNever));
            CHECK(told[0].ran == 1 && told[0].value == 1);
            return ended(2);
        }
        work(0);
        thread_ends();
    }
};

// Who drains waits for a drop of who cancels, and sees what it did.
struct CancelDrained : Tasks<3, 1> {
    Atomic<int> there;
    void thread(unsigned i) override {
        if (i == 0) {
            submit_held(0);
            there.store(1, memory_order_release);
            task_cancel(held[0]);
            return ended(2);
        }
        if (i == 1) {
            while (there.load(memory_order_acquire) == 0) yield();
            CHECK(g->drain(kNever));
            CHECK(told[0].ran + told[0].dropped == 1 && told[0].value != 0);
            task_unref(held[0]);
            return ended(2);
        }
        work(0);
        thread_ends();
    }
};

// A home's end, what is still out, and who asks for the group meanwhile: that is not touched when it is gone, nor is the
// home, nor a record that was walked over.
struct HomeEnds : CoreModel<3> {
    Plain<int> group{1};  // stands for it
    Home *home;
    hc::Task *out[2];
    HomeEnds() {
        home = memory::make<Home>(reinterpret_cast<Group *>(&group), 0u);
        for (auto &t : out) t = home->take();
    }
    void thread(unsigned i) override {
        if (i == 0) {
            { Locked l(home->lock); }
            home->made.walk([](hc::Task *t) { return !t->overran; });  // as the reaper, which reads what is in them
            home->close();
            CHECK(group == 1);
            group = 0;
            return;
        }
        home->pin([](Group *g) {
            CHECK(*reinterpret_cast<Plain<int> *>(g) == 1);
            return true;
        });
        { Locked l(home->lock); }
        home->give(out[i - 1]);
    }
};

// A task that runs says where it forks, and somebody begins to listen: one of them sees the other.
struct ForksSeen : CoreModel<2> {
    hc::Task task;
    Listener listener;
    bool told = false, sees = false;
    ForksSeen() { task.state.store(hc::Task::kRunning, memory_order_relaxed); }
    void thread(unsigned i) override {
        if (i == 0) {
            told = task.forks_in(reinterpret_cast<Deque *>(this));
        } else {
            CHECK(task.listen(&listener));
            sees = task.runner.load(memory_order_acquire) != nullptr;
        }
    }
    void after() override { CHECK(told || sees); }
};

// One gives back what it may while others take.
struct Trimmed : Tasks<3, 2> {
    Atomic<int> there;
    void thread(unsigned i) override {
        if (i == 0) {
            for (int k = 0; k < 2; k++) {
                submit_held(k);
                wait(k, kNoHelp);
                there.store(1, memory_order_relaxed);
            }
            return ended(2);
        }
        if (i == 1) {
            for (int times = 0; times < 2; times++, there.load(memory_order_relaxed) == 0 ? yield() : void())
                g->each_box([](Outbox &o) {
                    if (Home *home = o.home.load(memory_order_acquire)) home->trim();  // as hc_group_trim()
                });
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

// A full group refuses a scope's task when the one before it has ended, and then nothing of the scope is left: who waits is told
// of that, and sees what that one did.
struct ScopeRefused : Tasks<3, 2> {
    Scope *scope = nullptr;
    Atomic<int> there;
    ScopeRefused() : Tasks(1) {
        scope = memory::make<Scope>(g);
        g->ref();
    }
    void add(int k) {
        bool cancelled = false;
        const Submit s = scope->submit(options(k), &cancelled);
        CHECK(s == Submit::kOk || (k == 1 && s == Submit::kFull));
    }
    void thread(unsigned i) override {
        if (i == 2) {
            work(0);
            return thread_ends();
        }
        if (i == 0) {
            add(0);
            there.store(1, memory_order_release);
            CHECK(wait_for_scope(scope, kNever, kNoHelp) == Waited::kDone);
            CHECK(told[0].ran == 1 && told[0].value == 1);
        } else {
            while (there.load(memory_order_acquire) == 0) yield();
            add(1);
        }
        if (ends.fetch_add(1, memory_order_acq_rel) == 1) {
            CHECK(wait_for_scope(scope, kNever, kNoHelp) == Waited::kDone);
            scope->unref();
            close();
        }
        thread_ends();
    }
};

// Who waits for a scope, asleep, may be the only one to run what comes to it later: the one worker waits in a task, and the scope's
// first task stands still until its second has run.
struct ScopeLater : Tasks<3, 2> {
    Scope *scope = nullptr;
    Atomic<int> there;
    Condition second;
    static ScopeLater &me() { return *static_cast<ScopeLater *>(now); }
    ScopeLater() {
        scope = memory::make<Scope>(g);
        g->ref();
        tasks[0].refused = 0;
        post(0);
        Records::hand_to(0);
    }
    void begun() override { CHECK(wait_for_scope(scope, kNever, 0) == Waited::kDone); }
    static void first(void *p) {
        me().second.wait();
        body(p);
    }
    static void then_this(void *p) {
        body(p);
        me().second.meet();
    }
    void add(int k) {
        TaskOptions o = options(k);
        o.call.fn = k == 0 ? first : then_this;
        bool cancelled = false;
        CHECK(scope->submit(o, &cancelled) == Submit::kOk && !cancelled);
    }
    void thread(unsigned i) override {
        if (i == 2) {
            work(0);
            return thread_ends();
        }
        if (i == 0) {
            add(0);
            there.store(1, memory_order_release);
            CHECK(wait_for_scope(scope, kNever, 0) == Waited::kDone);
        } else {
            while (there.load(memory_order_acquire) == 0) yield();
            add(1);
        }
        if (ends.fetch_add(1, memory_order_acq_rel) == 1) {
            CHECK(wait_for_scope(scope, kNever, 0) == Waited::kDone);
            CHECK(told[0].ran == 1 && told[1].ran == 1);
            close();
            scope->unref();
        }
        thread_ends();
    }
};

// Nobody waits: the last user of the scope frees it, here or in the worker, and has seen all that others did with it.
template <bool kNow>
struct ScopeLast : Tasks<3, 2> {
    Scope *scope = nullptr;
    int refused = 0;
    ScopeLast() {
        scope = memory::make<Scope>(g);
        g->ref();
        scope->ref();
    }
    static void fails(void *p) {
        body(p);
        this_thread->now->task->failure.set = true;
    }
    void thread(unsigned i) override {
        if (i == 2) {
            work(0);
            return thread_ends();
        }
        TaskOptions o = options(static_cast<int>(i));
        o.call.fn = fails;
        bool cancelled = false;
        if (scope->submit(o, &cancelled) != Submit::kOk) refused++;
        if (!kNow) {
            const int32_t outcome = scope->outcome();
            int32_t code;
            scope->error(&code, nullptr);
            CHECK(outcome == 0 || (outcome == kWhyFailed && code == 0));
        }
        scope->unref();
        if (kNow && i == 0) {
            registry::Call call(g);
            g->shutdown(true);
            CHECK(g->await(kNever));
        }
        kNow ? thread_ends() : ended(2);
    }
    void after() override {
        CHECK(told[0].ran + told[0].dropped + told[1].ran + told[1].dropped + refused == 2);
        Tasks::after();
    }
};

// Two use a scope, none of them to the end: the drops of one that cancels it are seen by who drains, who is told of them.
struct ScopeCancelDrained : Tasks<3, 1> {
    Scope *scope = nullptr;
    Atomic<int> there;
    ScopeCancelDrained() {
        scope = memory::make<Scope>(g);
        g->ref();
    }
    void thread(unsigned i) override {
        if (i == 0) {
            bool cancelled = false;
            CHECK(scope->submit(options(0), &cancelled) == Submit::kOk);
            there.store(1, memory_order_release);
            scope->cancel();
            scope->unref();
            return ended(2);
        }
        if (i == 1) {
            while (there.load(memory_order_acquire) == 0) yield();
            CHECK(g->drain(kNever));
            CHECK(told[0].ran + told[0].dropped == 1 && told[0].value != 0);
            return ended(2);
        }
        work(0);
        thread_ends();
    }
};

// Who waits for a scope begins to help, and finds nothing; or helps. A drain meanwhile is about the other task, too.
template <bool kFound>
struct ScopeHelpedDrained : Tasks<3, 2> {
    Scope *scope = nullptr;
    Atomic<int> there;
    ScopeHelpedDrained() {
        scope = memory::make<Scope>(g);
        g->ref();
    }
    void thread(unsigned i) override {
        if (i == 0) {
            bool cancelled = false;
            if (kFound)
                CHECK(scope->submit(options(1), &cancelled) == Submit::kOk);
            else
                CHECK(submit(g, Entry(body, &told[0])) == Submit::kOk);
            there.store(1, memory_order_release);
            if (kFound) {
                CHECK(wait_for_scope(scope, kNever, 0) == Waited::kDone);
            } else {
                hc::Task *none = scope->take_for_waiter();
                CHECK(none == nullptr);
            }
            scope->unref();
            return ended(2);
        }
        if (i == 1) {
            while (there.load(memory_order_acquire) == 0) yield();
            CHECK(g->drain(kNever));
            CHECK(told[kFound].ran == 1 && told[kFound].value == 1);
            return ended(2);
        }
        work(0);
        thread_ends();
    }
};

// One group's queue, two producers: whoever ends a task, for what follows it, and another.
struct FollowedShared : Tasks<3, 3> {
    Atomic<int> there;
    FollowedShared() : Tasks(0, Kind::kShared) {}
    void thread(unsigned i) override {
        if (i == 0) {
            submit_held(0);
            there.store(1, memory_order_release);
            then(0, 1);
            wait(1, kNoHelp);
            task_unref(held[0]);
            return ended(2);
        }
        if (i == 1) {
            while (there.load(memory_order_acquire) == 0) yield();
            submit_held(2);
            wait(2, kNoHelp);
            return ended(2);
        }
        work(0);
        thread_ends();
    }
};

// Who claims a task that is ready, and has not popped it, sees what it waited for.
struct ReadyClaimed : Tasks<3, 2> {
    Atomic<int> there;
    void thread(unsigned i) override {
        if (i == 0) {
            submit_held(0);
            then(0, 1);
            held[1]->handles.fetch_add(1, memory_order_relaxed);
            there.store(1, memory_order_release);
            wait(0, kNoHelp);
            wait(1, kNoHelp);
            return ended(2);
        }
        if (i == 1) {
            while (there.load(memory_order_acquire) == 0) yield();
            while (held[1]->stage() == hc::Task::kWaiting) yield();
            if (held[1]->claim(hc::Task::kQueued)) {  // as task_cancel()
                CHECK(told[0].value == 1);
                drop_claimed(held[1], kWhyCanceled);
            }
            task_unref(held[1]);
            return ended(2);
        }
        work(0);
        thread_ends();
    }
};

// A record that comes back is used again by who took it first, and by nobody else: two handles, and the last one's owner is fast.
struct Again : Tasks<3, 2> {
    Atomic<int> there;
    void thread(unsigned i) override {
        if (i == 0) {
            submit_held(0);
            held[0]->handles.fetch_add(1, memory_order_relaxed);
            there.store(1, memory_order_release);
            wait(0, kNoHelp);
            submit_held(1);
            wait(1, kNoHelp);
            return ended(2);
        }
        if (i == 1) {
            while (there.load(memory_order_acquire) == 0) yield();
            wait(0, kNoHelp);
            return ended(2);
        }
        work(0);
        thread_ends();
    }
};

// All of two, of which one is cancelled meanwhile: what its canceller did is passed on by who listens, when it finds it ended.
struct JoinedCancelled : Tasks<3, 2> {
    Atomic<int> there;
    void thread(unsigned i) override {
        if (i == 0) {
            submit_held(0);
            submit_held(1);
            held[1]->handles.fetch_add(1, memory_order_relaxed);
            there.store(1, memory_order_release);
            hc::Task *joined = nullptr;
            CHECK(task_after(hc::Task::Body::kAll, held, 2, &joined) == Submit::kOk);
            CHECK(wait_for_task(joined, kNever, kNoHelp) == Waited::kDone);
            CHECK(told[0].value == 1 && told[1].value == (told[1].ran ? 1 : 2));
            CHECK(joined->outcome == (told[1].ran ? 0 : kWhyCanceled));
            task_unref(joined);
            wait(0);
            wait(1);
            return ended(2);
        }
        if (i == 1) {
            while (there.load(memory_order_acquire) == 0) yield();
            task_cancel(held[1]);
            task_unref(held[1]);
            return ended(2);
        }
        work(0);
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
    ok &= holds<CompletesDrained>("helped to complete, drained", 10'000);
    ok &= holds<CancelDrained>("cancelled, drained", 30'000);
    ok &= holds<HomeEnds>("a home's end", 20'000);
    ok &= holds<ForksSeen>("forks seen", 10'000);
    ok &= holds<Trimmed>("trimmed", 10'000);
    ok &= holds<Again>("again", 10'000);
    ok &= holds<ForkInTask>("fork in a task", 30'000);
    ok &= holds<TwoHelp>("two help", 60'000);
    ok &= holds<ScopeFull>("scope, full", 60'000);
    ok &= holds<ScopeRefused>("scope, refused", 20'000);
    ok &= holds<ScopeLater>("scope, later", 10'000);
    ok &= holds<ScopeLast<false>>("scope, last", 10'000);
    ok &= holds<ScopeLast<true>>("scope, last, now", 10'000);
    ok &= holds<ScopeCancelDrained>("scope, cancelled, drained", 10'000);
    ok &= holds<ScopeHelpedDrained<true>>("scope, helped, drained", 10'000);
    ok &= holds<ScopeHelpedDrained<false>>("scope, in vain, drained", 30'000);
    ok &= holds<TwoWaiters>("two waiters", 30'000);
    ok &= holds<Followed<false>>("followed", 30'000);
    ok &= holds<Followed<true>>("followed, cancelled", 30'000);
    ok &= holds<ReadyClaimed>("ready, claimed", 10'000);
    ok &= holds<FollowedShared>("followed, shared", 10'000);
    ok &= holds<Joined<hc::Task::Body::kAll>>("all", 30'000);
    ok &= holds<Joined<hc::Task::Body::kAny>>("any", 30'000);
    ok &= holds<JoinedCancelled>("all, cancelled", 20'000);
    ok &= holds<Promise<false>>("promise", 30'000);
    ok &= holds<Promise<true>>("promise, dropped", 30'000);
    ok &= holds<Outlives>("outlives", 30'000);
    ok &= holds<Scoped<false>>("scope", 30'000);
    ok &= holds<Scoped<true>>("scope, cancelled", 30'000);
    return ok ? 0 : 1;
}
