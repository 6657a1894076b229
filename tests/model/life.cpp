// A group's whole life, by the real functions from create to free: who owns it when, and what its end leaves behind.
#include "model.h"
//
#include "core.h"

using namespace hc;
using namespace hc::model;

namespace {

struct Counted {
    int ran = 0, unrun = 0;
    Group *create(uint32_t workers) {
        GroupOptions o;
        o.least = o.most = workers;
        o.spin_ns = 0;
        o.user = this;
        o.on_unrun = [](void *user, void (*)(void *), void *, int32_t) { static_cast<Counted *>(user)->unrun++; };
        Group *g = nullptr;
        CHECK(Group::create(&g, o) == Group::Create::kOk);
        return g;
    }
    void post(Group *g) {
        CHECK(submit(g, Entry([](void *self) { static_cast<Counted *>(self)->ran++; }, this)) == Submit::kOk);
    }
};

// Shut down, awaited, let go. The submitter's thread ends before the group or after it.
template <bool kNow, bool kThreadFirst>
struct Life : CoreModel<1, 2>, Counted {
    void thread(unsigned) override {
        Group *g = create(2);
        for (int i = 0; i < 2; i++) post(g);
        if (kThreadFirst) thread_ends();
        g->shutdown(kNow);
        CHECK(g->await(kNever));
        CHECK(ran + unrun == 2 && (kNow || unrun == 0));
        g->unref();
        thread_ends();
    }
};

// Let go without a word: the last worker frees it.
struct LetGo : CoreModel<1, 2>, Counted {
    void thread(unsigned) override {
        Group *g = create(2);
        for (int i = 0; i < 2; i++) post(g);
        g->unref();
        thread_ends();
    }
    void after() override { CHECK(ran == 2); }
};

// Two wait for the end.
struct TwoAwait : CoreModel<2, 1>, Counted {
    Atomic<Group *> made;
    Atomic<int> gone;
    void thread(unsigned i) override {
        Group *g;
        if (i == 0) {
            g = create(1);
            post(g);
            made.store(g, memory_order_release);
            g->shutdown(false);
        } else {
            while ((g = made.load(memory_order_acquire)) == nullptr) yield();
        }
        CHECK(g->await(kNever));
        CHECK(ran == 1);
        if (gone.fetch_add(1, memory_order_acq_rel) == 1) g->unref();
        thread_ends();
    }
};

// A start hook tells another thread of the group, which shuts it down and waits for it before it has been handed out.
struct ToldByHook : CoreModel<2, 1> {
    Atomic<Group *> made;
    Atomic<int> gone;
    void thread(unsigned i) override {
        Group *g = nullptr;
        if (i == 0) {
            GroupOptions o;
            o.spin_ns = 0;
            o.user = this;
            o.on_thread_start = [](void *user, uint32_t) {
                static_cast<ToldByHook *>(user)->made.store(&this_thread->self->group(), memory_order_release);
            };
            CHECK(Group::create(&g, o) == Group::Create::kOk);
        } else {
            while ((g = made.load(memory_order_acquire)) == nullptr) yield();
            g->shutdown(false);
            CHECK(g->await(kNever));
        }
        if (gone.fetch_add(1, memory_order_acq_rel) == 1) g->unref();
        thread_ends();
    }
};

// One thread's lane is the next one's, with whatever is still in it.
struct Inherited : CoreModel<2, 1>, Counted {
    Atomic<Group *> made;
    Atomic<int> gone;
    void thread(unsigned i) override {
        Group *g;
        if (i == 0) {
            g = create(1);
            made.store(g, memory_order_release);
        } else {
            while ((g = made.load(memory_order_acquire)) == nullptr) yield();
        }
        for (int k = 0; k < 2; k++) post(g);
        thread_ends();
        if (gone.fetch_add(1, memory_order_acq_rel) == 0) return;
        g->shutdown(false);
        CHECK(g->await(kNever));
        CHECK(ran == 4);
        g->unref();
    }
};

}  // namespace

int main() {
    bool ok = true;
    ok &= holds<Life<false, false>>("life", 20'000);
    ok &= holds<Life<true, true>>("life, now", 20'000);
    ok &= holds<LetGo>("let go", 20'000);
    ok &= holds<TwoAwait>("two await", 20'000);
    ok &= holds<ToldByHook>("told by a hook", 10'000);
    ok &= holds<Inherited>("inherited", 20'000);
    return ok ? 0 : 1;
}
