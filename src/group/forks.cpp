#include "group/forks.h"

#include "group/blocking.h"
#include "group/group.h"
#include "group/registry.h"
#include "group/tasks.h"

namespace hc {
namespace {

// A push has met a limit that was taken away. It is put back, unless somebody must be told of this and the next forks:
//
//   owner: limit = last; fence; is anybody parked, and nobody searching? wake one.   is anybody watching? wake them.
//   who stops to search, or watches: say so; fence; limit = nullptr; heavy_fence(); look
//
// Invariant: the limit stands => nobody is parked, or somebody searches who will take the limit away before it stops, or
// somebody watches (sleep.cpp).
// Hazard: the owner does not see who stops, and puts the limit back after it was taken away. Both fences forbid that.
void ring(Deque &d) {
    Group &g = *d.group;
    d.rearm();
    bool refused = false;
    do {
        // Pairs with the fences in Group::divert_forks() and ask_for_forks(): the limit | the word, the watch
        atomic_thread_fence(memory_order_seq_cst);
        const uint64_t word = g.gate.read();
        if (Gate::nobody_to_wake(word) || Gate::searching(word) != 0 || g.options().kind != Kind::kStealing) break;
        if (g.watches_forks()) break;
    } while (!g.wake_one(1, &refused) && !refused);
    if (refused) g.stuck.owe(&g);
    if (d.watched()) d.wake_watches();
}

// Leapfrogging: while a thief runs our frame, we run what that frame has forked, and nothing else, for we may hold locks.
// True: something was run.
bool help(Deque &mine, Frame *f, bool patient) {
    if (!can_help(mine)) return false;
    Frame *theirs = f->thief->steal(&mine, f, patient);
    if (theirs == nullptr) return false;
    run_fork(mine, theirs);
    return true;
}

void help_or_sleep(Deque &mine, Frame *f) {
    Deque &thief = *f->thief;
    Deque::Watch watch{&mine.bed};
    ask_for_forks(thief, &watch);
    const bool helped = help(mine, f, true);
    if (!helped && f->wait_for()) {
        const Blocking declared;
        mine.bed.park();
    }
    thief.unwatch(&watch);
}

void wait_for(Deque &mine, Frame *f) {
    for (int tries = 0; !f->done(); tries++) {
        if (help(mine, f, false))
            tries = 0;
        else if (tries < kTriesBeforeSleep)
            cpu_relax();
        else
            help_or_sleep(mine, f);
    }
}

bool take(Slot **at, Frame *f) {
    Slot *s = *at - 1;
    Deque &d = *s->deque;
    const bool mine = d.take(s);
    const Deque::Settled settled = mine ? Deque::Settled::kMine : d.settle(&s);
    *at = s;
    if (settled == Deque::Settled::kTaken) wait_for(d, f);
    return settled == Deque::Settled::kMine;
}

}  // namespace

bool can_help(Deque &mine) {
    ThreadRecord *t = this_thread;
    if (t->stack_half == 0) t->stack_half = thread_stack_half();
    return !mine.overflowed() && reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) > t->stack_half;
}

void ask_for_forks(Deque &d, Deque::Watch *watch) {
    d.watch(watch);
    atomic_thread_fence(memory_order_seq_cst);  // pairs with the fence in ring(): the watch | the limit
    d.divert();
    heavy_fence();  // pairs with light_fence in Deque::push(): the limit | the fork
}

bool ready_to_fork(Deque &d) {
    if (d.started()) return true;
    if (!d.start()) return false;
    d.group->add_deque(&d);
    return true;
}

Slot *fork_push(Slot *at, Frame *f, Frame::Fn fn, void *arg) {
    return at->deque->push(at, f, fn, arg) ? at + 1 : fork_notice(at + 1);
}

Slot *fork_notice(Slot *at) {
    Deque &d = *at->deque;
    d.answer();
    if (!d.overflowed())
        if (Slot *next = d.make_room()) {
            ring(d);
            return next;
        }
    Frame *f = (at - 1)->frame;
    const bool mine = d.overflowed() || take(&at, f);
    Slot *place = d.overflow();
    if (mine) f->fn(place, f->arg);
    return place;
}

bool fork_take(Slot **at, Frame *f) { return take(at, f); }

Slot *fork_join(Slot *at, Frame *f) {
    if (take(&at, f)) f->fn(at, f->arg);
    return at;
}

void run_fork(Deque &mine, Frame *f) {
    ThreadRecord *self = this_thread;
    Group *g = mine.group;
    if (self->now->group != g) {  // a thread that waits from outside
        registry::Call call(g);
        registry::Borrowed context(g);
        self->now->forks = &mine;
        return run_fork(mine, f);
    }
    Task *const task = f->task;
    Context here = *self->now;
    here.task = task;
    here.timer = nullptr;
    here.deadline = nullptr;  // the task knows
    here.label = task == nullptr ? nullptr : task->label;
    const registry::Within within(self, here);
    Deque::Level level;
    mine.begin(&level, f, task);
    f->fn(mine.top(), f->arg);
    if (this_thread != self) return;  // the child of a fork(2): nobody waits for this frame
    mine.end();
    // Set, then touch: the frame is gone, the bed is its group's.
    Parker &bed = f->owner->bed;
    // release: what the fork did; pairs with the acquire in done()
    if (f->state.exchange(Frame::kDone, memory_order_release) == Frame::kAwaited) bed.unpark();
}

// Of the calling thread, which is no worker of g. nullptr: no memory, or *closed.
static Deque *deque_of(Group *g, bool *closed) {
    Outbox *o = registry::bind(g, closed);
    if (o == nullptr) return nullptr;
    if (o->forks == nullptr) o->forks = memory::make<Deque>(g);
    return o->forks;
}

// Where t forks from now on. A task that has begun before there was a deque is marked now: who waits for it must find its forks.
static bool fork_in(ThreadRecord *t, Deque *d) {
    const bool first = !d->started();
    if (!ready_to_fork(*d)) return false;
    Task *task = t->now->task;
    if (first && task != nullptr && d->group == t->now->group) {
        d->mark(mark_of(task), task);
        if (task->forks_in(d)) wake_waiters(task);
    }
    return true;
}

Deque *forks_here(ThreadRecord *t) {
    Deque *d = t->now->forks;
    if (d == nullptr && t->now->group != nullptr)
        if (Outbox *o = registry::bound(t, t->now->group)) d = o->forks;
    return d != nullptr && d->group == t->now->group && d->started() && !d->overflowed() ? d : nullptr;
}

Slot *fork_place() {
    ThreadRecord *t = this_thread;
    if (t == nullptr) return nullptr;
    Deque *d = t->now->forks;
    bool closed = false;
    if (d == nullptr && t->now->group != nullptr) d = deque_of(t->now->group, &closed);
    if (d == nullptr || !fork_in(t, d)) return nullptr;
    t->now->forks = d;
    return d->place();
}

Enter fork_enter(Group *g, Slot **at) {
    if (g->foreign()) return Enter::kForeign;
    ThreadRecord *t = this_thread;
    Deque *d = t != nullptr && t->self != nullptr && &t->self->group() == g ? &t->self->forks : nullptr;
    if (d == nullptr) {
        bool closed = g->closed() && !registry::inside(g);
        if (!closed) d = deque_of(g, &closed);
        if (d == nullptr) return closed ? Enter::kClosed : Enter::kNoMemory;
        t = this_thread;
    }
    if (!fork_in(t, d)) return Enter::kNoMemory;
    if (d->entered++ == 0) d->outer = std::exchange(t->now->forks, d);
    *at = d->place();
    return Enter::kOk;
}

void fork_leave(Slot *at) {
    Deque &d = *at->deque;
    if (--d.entered == 0) this_thread->now->forks = d.outer;
}

}  // namespace hc
