// Forks (src/queue/deque.h): whatever owner and thieves do, each is run once, a join finds its results, and a mark holds.
#include "model.h"
//
#include "queue/deque.h"
#include "stand_ins.h"

using namespace hc;
using namespace hc::model;

namespace {

void fn(Slot *, void *) {}

// What a fork leaves behind. Its frame is gone after the join: relacy tells of a thief that touches it then.
struct Result {
    Plain<int> value{0};
    int ran = 0;
};

struct Owner {
    Deque deque{nullptr};
    Owner() { CHECK(deque.start()); }

    Slot *push(Slot *at, Frame *f, Result *r) {
        if (deque.push(at, f, fn, r)) return at + 1;
        deque.answer();
        Slot *next = deque.make_room();
        deque.rearm();
        return next;
    }
    static void run(Frame *f) {
        auto *r = static_cast<Result *>(f->arg);
        CHECK(r->ran++ == 0);
        r->value = 1;
    }
    // Takes back and runs, or waits meanwhile doing what `help` does.
    template <class Help>
    Slot *join(Slot *at, Frame *f, Help &&help) {
        auto *r = static_cast<Result *>(f->arg);
        Slot *s = at - 1;
        if (deque.take(s) || deque.settle(&s) == Deque::Settled::kMine)
            run(f);
        else
            while (!f->done()) help(f);
        CHECK(r->value == 1);
        memory::destroy(f);
        return s;
    }
    // Runs a stolen frame, and inside it `inside`.
    template <class Inside>
    void run_stolen(Frame *f, Inside &&inside) {
        Deque::Level level;
        deque.begin(&level, f, nullptr);
        run(f);
        inside(deque.top());
        deque.end();
        f->state.exchange(Frame::kDone, memory_order_release);
    }
    bool steal(Deque &victim, bool patient) {
        Frame *f = victim.steal(&deque, nullptr, patient);
        if (f != nullptr) run_stolen(f, [](Slot *) {});
        return f != nullptr;
    }
};

// Forks some, joins them in reverse, twice; chunks have three slots here. Others steal.
template <int kThieves, int kForks, bool kPatient>
struct Stolen : Model<kThieves + 1> {
    Owner owner[kThieves + 1];
    Result results[2][kForks];
    void thread(unsigned i) override {
        if (i != 0) {
            for (int tries = 0; tries < 3; tries++)
                if (!owner[i].steal(owner[0].deque, kPatient)) yield();
            return;
        }
        Owner &me = owner[0];
        for (auto &round : results) {
            Slot *at = me.deque.top();
            Frame *frames[kForks];
            for (int k = 0; k < kForks; k++) at = me.push(at, frames[k] = memory::make<Frame>(), &round[k]);
            for (int k = kForks; k-- > 0;) at = me.join(at, frames[k], [](Frame *) { yield(); });
        }
        CHECK(!me.deque.has_work());
    }
    void after() override {
        for (auto &round : results)
            for (auto &r : round) CHECK(r.ran == 1);
    }
};

// The limit stands. Who wants to know of the next push takes it away and looks; the owner pushes. One of them sees the other.
struct Bell : Model<2> {
    Owner owner[2];
    Result result[2];
    bool quick = false, saw = false;
    Bell() { owner[0].deque.rearm(); }
    void thread(unsigned i) override {
        Deque &d = owner[0].deque;
        if (i == 1) {
            d.divert();
            heavy_fence();
            saw = d.has_work();
            return;
        }
        Frame frames[2];
        Slot *s = d.top();
        d.push(s, &frames[0], fn, &result[0]);
        CHECK(d.take(s));
        Owner::run(&frames[0]);
        quick = d.push(s, &frames[1], fn, &result[1]);
    }
    void after() override { CHECK(!quick || saw); }
};

// Who wants to be woken at the next push is in the list while it is looked through, and out of it when it leaves.
struct Watched : Model<3> {
    Owner owner;
    void thread(unsigned i) override {
        if (i != 0) {
            Deque::Watch watch{memory::make<Parker>()};
            owner.deque.watch(&watch);
            yield();
            owner.deque.unwatch(&watch);
            memory::destroy(watch.bed);
            return;
        }
        for (int tries = 0; tries < 2; tries++)
            if (owner.deque.watched()) owner.deque.wake_watches();
    }
    void after() override { CHECK(!owner.deque.watched()); }
};

// Levels come and go while others take from those below, and look.
struct Levels : Model<3> {
    Owner owner[3];
    Result below[2], above;
    void thread(unsigned i) override {
        Owner &me = owner[i];
        if (i == 2) {
            for (int tries = 0; tries < 2; tries++) {
                owner[0].deque.has_work();
                CHECK(owner[0].deque.steal(&me.deque, this, true) == nullptr);  // a mark that is not there
            }
            return;
        }
        if (i == 1) {
            for (int tries = 0; tries < 3; tries++) me.steal(owner[0].deque, true);
            return;
        }
        Frame *f[2], *g = memory::make<Frame>();
        Slot *at = me.deque.top();
        for (int k = 0; k < 2; k++) at = me.push(at, f[k] = memory::make<Frame>(), &below[k]);
        Deque::Level level;
        me.deque.begin(&level, nullptr, nullptr);
        Slot *inner = me.push(me.deque.top(), g, &above);
        me.join(inner, g, [](Frame *) { yield(); });
        me.deque.end();
        me.deque.mark(me.deque.top(), nullptr);
        for (int k = 2; k-- > 0;) at = me.join(at, f[k], [](Frame *) { yield(); });
    }
    void after() override { CHECK(below[0].ran == 1 && below[1].ran == 1 && above.ran == 1); }
};

// Who waits for a frame takes from its thief what that frame has forked, and not what the thief had forked before. A third
// takes anything.
struct Leapfrog : Model<3> {
    Owner owner[3];
    Result ours, before, inside[2];
    bool frame_runs = false;
    void thread(unsigned i) override {
        Owner &me = owner[i];
        if (i == 0) {
            Frame *f = memory::make<Frame>();
            Slot *at = me.push(me.deque.top(), f, &ours);
            me.join(at, f, [&](Frame *waited) {
                Frame *g = waited->thief->steal(&me.deque, waited, true);
                if (g == nullptr) return yield();
                CHECK(static_cast<void *>(g->arg) != static_cast<void *>(&before));
                CHECK(frame_runs);
                me.run_stolen(g, [](Slot *) {});
            });
        }
        if (i == 1) {
            Frame *x = memory::make<Frame>();
            Slot *at = me.push(me.deque.top(), x, &before);
            if (Frame *f = owner[0].deque.steal(&me.deque, nullptr, true)) {
                me.run_stolen(f, [&](Slot *place) {
                    frame_runs = true;
                    Frame *y[2];
                    for (int k = 0; k < 2; k++) place = me.push(place, y[k] = memory::make<Frame>(), &inside[k]);
                    for (int k = 2; k-- > 0;) place = me.join(place, y[k], [](Frame *) { yield(); });
                    frame_runs = false;
                });
            }
            me.join(at, x, [](Frame *) { yield(); });
        }
        if (i == 2) me.steal(owner[1].deque, false);
    }
    void after() override {
        CHECK(ours.ran == 1 && before.ran == 1);
        CHECK(inside[0].ran == inside[1].ran);
    }
};

// Without memory for more slots, forks run at once. What was pushed before can still be stolen.
struct Overflow : Model<2> {
    Owner owner[2];
    Result results[4];
    void thread(unsigned i) override {
        Owner &me = owner[i];
        if (i == 1) {
            for (int tries = 0; tries < 2; tries++) me.steal(owner[0].deque, true);
            return;
        }
        Frame *first = memory::make<Frame>();
        Slot *at = me.push(me.deque.top(), first, &results[0]);
        Slot *place = me.deque.overflow();
        for (int k = 1; k < 3; k++) {
            Frame over;
            CHECK(!me.deque.push(place, &over, fn, &results[k]));
            Owner::run(&over);
            Slot *inner = me.deque.overflow(), *s = inner - 1;
            CHECK(!me.deque.take(s) && me.deque.settle(&s) == Deque::Settled::kRan);
            CHECK(s == place);
        }
        Slot *s = place - 1;
        CHECK(!me.deque.take(s) && me.deque.settle(&s) == Deque::Settled::kRan);
        CHECK(s == at && !me.deque.overflowed());
        Frame *last = memory::make<Frame>();
        at = me.join(me.push(s, last, &results[3]), last, [](Frame *) { yield(); });
        me.join(at, first, [](Frame *) { yield(); });
    }
    void after() override {
        for (auto &r : results) CHECK(r.ran == 1);
    }
};

}  // namespace

int main() {
    bool ok = true;
    ok &= holds<Stolen<1, 1, true>>("one fork", 60'000);
    ok &= holds<Stolen<1, 2, false>>("two forks", 100'000);
    ok &= holds<Stolen<1, 4, true>>("two chunks", 100'000);
    ok &= holds<Stolen<2, 2, true>>("two thieves", 100'000);
    ok &= holds<Bell>("bell", 60'000);
    ok &= holds<Watched>("watched", 60'000);
    ok &= holds<Levels>("levels", 100'000);
    ok &= holds<Leapfrog>("leapfrog", 100'000);
    ok &= holds<Overflow>("overflow", 50'000);
    return ok ? 0 : 1;
}
