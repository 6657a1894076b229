// Tasks that expire in a queue (src/group/expiry.h, expiry.cpp, reaper.cpp, queue/made.h, task/task.h): each runs or comes back once,
// and those whose time is over come back though nobody takes them out. The reaper's own loop is written here once more, without its end.
#include "model.h"
//
#define HC_MODEL_REAPER
#include "staged.h"

#define private public
#include "group/scope.h"
#undef private
// The process has one: the iteration's. Its definition becomes that of a pointer.
#define reaper (*model_reaper)
#include "group/expiry.cpp"
#include "group/reaper.cpp"
#undef reaper

using namespace hc;
using namespace hc::model;

namespace {

// The last thread is the reaper, the one before may be the worker.
template <int Threads, int Tasks_>
struct Expires : Staged<Threads, 1> {
    Reaper own;
    struct Told {
        Plain<int> value{0};
        int ran = 0, dropped = 0;
    } told[Tasks_];
    hc::Task *held[Tasks_] = {};
    bool finished = false;
    Condition stuck;  // the worker begins when this is over

    explicit Expires(uint64_t capacity = 0, Kind kind = Kind::kStealing) {
        model_reaper = &own;
        own.runs = true;
        this->options.capacity = capacity;
        this->options.queue_expiry = 1;
        this->shut_down_at_end = false;
        this->build(1, kind);
        this->tasks[0].refused = 1;
    }
    static void body(void *p) {
        auto *t = static_cast<Told *>(p);
        CHECK(t->ran++ == 0);
        t->value = 1;
    }
    static void drop(void *p, int32_t why) {
        auto *t = static_cast<Told *>(p);
        CHECK(t->dropped++ == 0);
        CHECK(why == kWhyExpired || why == kWhyShutdown || why == kWhyCanceled);
        t->value = 2;
    }
    TaskOptions options_of(int i) {
        TaskOptions o;
        o.call = Entry(body, &told[i]);
        o.drop = drop;
        return o;
    }
    Submit submit_held(int i) { return submit_task(this->g, options_of(i), &held[i]); }
    Submit submit_detached(int i) { return submit_ticket(this->g, options_of(i)); }
    void wait(int i, uint32_t how) {
        CHECK(wait_for_task(held[i], kNever, how) == Waited::kDone);
        once(i);
        CHECK(held[i]->outcome == (told[i].ran ? 0 : kWhyExpired));
        task_unref(held[i]);
    }
    void once(int i) {
        CHECK(told[i].ran + told[i].dropped == 1);
        CHECK(told[i].value == (told[i].ran ? 1 : 2));
    }
    // The submitter is done.
    void close() {
        stuck.meet();
        this->g->shutdown(false);
        CHECK(this->g->await(kNever));
        finished = true;
        own.bed.unpark();
        thread_ends();
    }
    void reaper_thread() {
        while (!finished) {
            uint64_t next;
            while (Group *due = own.due(hc::now(), &next)) {
                registry::Call call(due);
                due->expiry.reap(due);
                registry::unref(due);
            }
            own.bed.park_until(next);
        }
        thread_ends();
    }
    virtual void submitter() = 0;
    void thread(unsigned i) override {
        if (i == 0) return submitter();
        if (i == 2) return reaper_thread();
        wait_to_work();
        this->work(0);
        thread_ends();
    }
    virtual void wait_to_work() {}
};

// The only worker is stuck. Who waits does nothing but sleep: the reaper must come.
struct Stuck1 : Expires<3, 1> {
    void submitter() override {
        CHECK(submit_held(0) == Submit::kOk);
        wait(0, kNoHelp);
        CHECK(told[0].dropped == 1);
        close();
    }
    void wait_to_work() override { stuck.wait(); }
};

// The same with a detached one, and another behind it.
struct StuckDetached : Expires<3, 2> {
    void submitter() override {
        for (int i = 0; i < 2; i++) CHECK(submit_detached(i) == Submit::kOk);
        while (g->expiry.expired.load(memory_order_relaxed) != 2) yield();
        close();
        for (int i = 0; i < 2; i++) CHECK(told[i].dropped == 1);
    }
    void wait_to_work() override { stuck.wait(); }
};

// One has more time than the other, held or detached: the reaper comes again for it.
template <bool kHeld>
struct Later : Expires<3, 2> {
    void submitter() override {
        CHECK(submit_held(0) == Submit::kOk);
        TaskOptions o = options_of(1);
        o.queue_expiry = 30;
        if (kHeld) {
            CHECK(submit_task(g, o, &held[1]) == Submit::kOk);
            wait(1, kNoHelp);
        } else {
            CHECK(submit_ticket(g, o) == Submit::kOk);
            while (g->expiry.expired.load(memory_order_relaxed) != 2) yield();
        }
        wait(0, kNoHelp);
        close();
        CHECK(told[1].dropped == 1);
    }
    void wait_to_work() override { stuck.wait(); }
};

// While the reaper looks for the first, another is queued, by one that does not fence for its push: it is seen, or the reaper is told.
struct Unseen : Expires<3, 2> {
    void submitter() override {
        CHECK(submit_held(0) == Submit::kOk);
        Submit why_not;
        held[1] = make_task(g, options_of(1), &why_not);
        const uint64_t at = hc::now() + 1;
        held[1]->expires_at.store(at, memory_order_relaxed);
        held[1]->enqueue();
        g->expiry.queued(g, at);
        for (int i = 0; i < 2; i++) wait(i, kNoHelp);
        close();
    }
    void wait_to_work() override { stuck.wait(); }
};

// It expires while the worker takes it, its waiter too, and its record becomes another that does the same.
template <uint32_t kHow>
struct Reused : Expires<3, 2> {
    void submitter() override {
        for (int i = 0; i < 2; i++) {
            CHECK(submit_held(i) == Submit::kOk);
            wait(i, kHow);
        }
        close();
    }
};

// The next one does not expire.
struct ReusedForever : Expires<3, 2> {
    void submitter() override {
        CHECK(submit_held(0) == Submit::kOk);
        wait(0, kNoHelp);
        TaskOptions o = options_of(1);
        o.queue_expiry = kNever;
        CHECK(submit_task(g, o, &held[1]) == Submit::kOk);
        wait(1, kNoHelp);
        CHECK(told[1].ran == 1);
        close();
    }
};

// There is no room, or the group is closed: it is refused, or has expired.
template <bool kHeld>
struct Refused : Expires<3, 3> {
    Refused() : Expires(1) {}
    void submitter() override {
        for (int i = 0; i < 3; i++) {
            if (i == 2) g->shutdown(false);
            const Submit s = kHeld ? submit_held(i) : submit_detached(i);
            CHECK(s == Submit::kOk || s == Submit::kFull || s == Submit::kClosed);
            if (s != Submit::kOk) CHECK(told[i].ran + told[i].dropped == 0 && held[i] == nullptr);
            if (s == Submit::kOk && kHeld) wait(i, kNoHelp);
            accepted[i] = s == Submit::kOk;
        }
        close();
        for (int i = 0; i < 3; i++) CHECK(told[i].ran + told[i].dropped == accepted[i]);
    }
    bool accepted[3];
};

// A scope's task, and one that the scope refuses because it is cancelled, in a record that the reaper may still look at.
struct Scoped : Expires<3, 3> {
    void submitter() override {
        bool cancelled = false;
        auto *s = memory::make<hc::Scope>(g);
        g->ref();
        CHECK(s->submit(options_of(0), &cancelled) == Submit::kOk && !cancelled);
        CHECK(wait_for_scope(s, kNever, kNoHelp) == Waited::kDone);
        once(0);
        s->cancel();
        s->submit(options_of(1), &cancelled);
        CHECK(cancelled && told[1].ran + told[1].dropped == 0);
        CHECK(submit_held(2) == Submit::kOk);
        wait(2, kNoHelp);
        s->unref();
        close();
    }
};

// Two of a scope, refused by turns: neither is lost, none comes back for another.
struct ScopeRefused : Expires<3, 3> {
    ScopeRefused() : Expires(1) {}
    void submitter() override {
        bool cancelled = false;
        auto *s = memory::make<hc::Scope>(g);
        g->ref();
        int accepted[3];
        for (int i = 0; i < 3; i++) {
            if (i == 2) g->shutdown(false);
            accepted[i] = s->submit(options_of(i), &cancelled) == Submit::kOk;
        }
        CHECK(wait_for_scope(s, kNever, kNoHelp) == Waited::kDone);
        for (int i = 0; i < 3; i++) CHECK(told[i].ran + told[i].dropped == accepted[i]);
        s->unref();
        close();
    }
};

// Memory is given back meanwhile, and the group ends before the handle goes.
struct Trimmed : Expires<3, 2> {
    void submitter() override {
        for (int i = 0; i < 2; i++) {
            CHECK(submit_held(i) == Submit::kOk);
            CHECK(wait_for_task(held[i], kNever, kNoHelp) == Waited::kDone);
            once(i);
            if (i == 0) task_unref(held[0]);
            this_thread->hot_outbox->home.load(memory_order_relaxed)->trim();
        }
        close();
        task_unref(held[1]);
    }
};

// The handle goes last: the record must not be freed while the walk over it has not ended.
struct Outlived : Expires<3, 1> {
    void submitter() override {
        CHECK(submit_held(0) == Submit::kOk);
        CHECK(wait_for_task(held[0], kNever, kNoHelp) == Waited::kDone);
        close();
    }
    void after() override {
        g->unref();
        task_unref(held[0]);
    }
};

// Who drains sees what the drops have done, though the worker may have taken out what it found dead.
template <bool kHeld>
struct Drained : Expires<3, 1> {
    void submitter() override {
        CHECK((kHeld ? submit_held(0) : submit_detached(0)) == Submit::kOk);
        CHECK(g->drain(kNever));
        once(0);
        close();
        if (kHeld) task_unref(held[0]);
    }
};

// Two submit: each has its records in a place of its own, which the reaper meets while it is made; or both to the queue of a shared
// group, whose records are all in one.
template <bool kShared>
struct Two : Expires<4, 2> {
    Two() : Expires(0, kShared ? Kind::kShared : Kind::kStealing) {}
    Atomic<int> done;
    void submit_one(int i) {
        if (kShared) {
            CHECK(submit_detached(i) == Submit::kOk);
        } else {
            CHECK(submit_held(i) == Submit::kOk);
            wait(i, kNoHelp);
        }
    }
    void submitter() override {
        submit_one(0);
        while (done.load(memory_order_acquire) == 0) yield();
        close();
        for (int i = 0; i < 2; i++) once(i);
    }
    void thread(unsigned i) override {
        if (i != 3) return Expires::thread(i);
        submit_one(1);
        thread_ends();
        done.store(1, memory_order_release);
    }
};

// It is cancelled at that time.
struct Cancelled : Expires<3, 1> {
    void submitter() override {
        CHECK(submit_held(0) == Submit::kOk);
        task_cancel(held[0]);
        CHECK(wait_for_task(held[0], kNever, kNoHelp) == Waited::kDone);
        once(0);
        task_unref(held[0]);
        close();
    }
};

}  // namespace

int main() {
    bool ok = true;
    ok &= holds<Stuck1>("stuck", 20'000);
    ok &= holds<StuckDetached>("stuck, detached", 20'000);
    ok &= holds<Later<true>>("later", 10'000);
    ok &= holds<Later<false>>("later, detached", 10'000);
    ok &= holds<Unseen>("unseen", 20'000);
    ok &= holds<Reused<kNoHelp>>("reused", 20'000);
    ok &= holds<Reused<0>>("reused, helped", 20'000);
    ok &= holds<ReusedForever>("reused, for ever", 20'000);
    ok &= holds<Refused<true>>("refused", 20'000);
    ok &= holds<Refused<false>>("refused, detached", 20'000);
    ok &= holds<Scoped>("scope", 20'000);
    ok &= holds<ScopeRefused>("scope, refused", 20'000);
    ok &= holds<Trimmed>("trimmed", 20'000);
    ok &= holds<Outlived>("outlived", 10'000);
    ok &= holds<Drained<false>>("drained", 20'000);
    ok &= holds<Drained<true>>("drained, held", 20'000);
    ok &= holds<Cancelled>("cancelled", 20'000);
    ok &= holds<Two<false>>("two", 10'000);
    ok &= holds<Two<true>>("two into one box", 10'000);
    return ok ? 0 : 1;
}
