// The tasks of a scope that have an order (src/group/scope.cpp): they lie in their line, and the scope has a list of them. Each runs, is
// dropped or is refused, once, and who waits for the scope sees what all have done.
#include "model.h"
//
#include "staged.h"

using namespace hc;
using namespace hc::model;

namespace {

// Two submitters, and a worker.
template <uint64_t kCapacity>
struct Scoped : Staged<3, 1> {
    struct Told {
        Plain<int> value{0};
        int ran = 0, dropped = 0;
        bool accepted = false;
    } told[4];
    hc::Scope *scope;
    Atomic<int> ends;

    Scoped() {
        options.capacity = kCapacity;
        shut_down_at_end = false;
        build(1);
        tasks[0].refused = 1;
        scope = memory::make<hc::Scope>(g);
        g->ref();
    }
    static void body(void *p) {
        auto *t = static_cast<Told *>(p);
        t->ran++;
        t->value = 1;
    }
    static void drop(void *p, int32_t) {
        auto *t = static_cast<Told *>(p);
        t->dropped++;
        t->value = 2;
    }
    void add(int k) {
        TaskOptions o;
        o.call = Entry(body, &told[k]);
        o.drop = drop;
        o.order = {nullptr, 7, Ordering::kPlain};
        bool cancelled = false;
        const Submit s = scope->submit(o, &cancelled);
        CHECK(s == Submit::kOk || (kCapacity != 0 && s == Submit::kFull));
        told[k].accepted = s == Submit::kOk && !cancelled;
    }
    void await(int first, int n) {
        CHECK(wait_for_scope(scope, kNever, kNoHelp) == Waited::kDone);
        for (int k = first; k < first + n; k++) {
            CHECK(told[k].ran + told[k].dropped == told[k].accepted);
            if (told[k].accepted) CHECK(told[k].value == (told[k].ran ? 1 : 2));
        }
    }
    virtual void submitter(int first) {
        add(first);
        add(first + 1);
        await(first, 2);
    }
    void thread(unsigned i) override {
        if (i == 2) {
            work(0);
            return thread_ends();
        }
        submitter(static_cast<int>(i) * 2);
        if (ends.fetch_add(1, memory_order_acq_rel) == 1) {
            g->shutdown(false);
            CHECK(g->await(kNever));
            scope->unref();
        }
        thread_ends();
    }
};

// One of them cancels it.
struct Cancelled : Scoped<0> {
    void submitter(int first) override {
        add(first);
        if (first != 0) scope->cancel();
        add(first + 1);
        await(first, 2);
    }
};

// A full group refuses one when the one before it has ended, and then nothing of the scope is left.
struct Refused : Scoped<1> {
    Atomic<int> there;
    void submitter(int first) override {
        if (first == 0) {
            add(0);
            there.store(1, memory_order_release);
            await(0, 1);
        } else {
            while (there.load(memory_order_acquire) == 0) yield();
            add(2);
        }
    }
};

// A task that is ahead of the scope's in their line looks whether it may wait for them.
struct Ahead : Scoped<0> {
    static void asks(void *self) { CHECK(wait_for_scope(static_cast<Ahead *>(self)->scope, 0, kNoHelp) != Waited::kStopped); }
    void submitter(int first) override {
        if (first == 0) CHECK(submit_in_order(g, {nullptr, 7, Ordering::kPlain}, Entry(asks, this)) == Submit::kOk);
        Scoped::submitter(first);
    }
};

}  // namespace

int main() {
    bool ok = true;
    ok &= holds<Scoped<0>>("two submit", 20'000);
    ok &= holds<Scoped<1>>("full", 20'000);
    ok &= holds<Cancelled>("cancelled", 20'000);
    ok &= holds<Refused>("refused", 20'000);
    ok &= holds<Ahead>("ahead", 20'000);
    return ok ? 0 : 1;
}
