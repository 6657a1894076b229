#include "group/line.h"

#include <algorithm>
#include <utility>

#include "group/blocking.h"
#include "group/group.h"
#include "group/keys.h"
#include "group/overload.h"
#include "group/registry.h"
#include "group/tasks.h"
#include "sync/clock.h"

namespace hc {
namespace {

#ifdef HC_SYNC_MODEL
constexpr uint32_t kQuantum = 2;
#else
constexpr uint32_t kQuantum = 16;  // tasks that a line runs before it queues again
#endif
constexpr uint64_t kQuantumTime = 100'000;  // ns; looked at after 1, 2, 4, ... tasks

Keys *keys_of(Group *g, Submit *why_not) {
    if (Keys *l = g->keys.load(memory_order_acquire)) return l;  // pairs with the release below
    Locked l(registry::lock);
    Keys *made = g->keys.load(memory_order_relaxed);
    if (made != nullptr) return made;
    *why_not = Submit::kNoMemory;
    if ((made = memory::make<Keys>(g)) != nullptr) g->keys.store(made, memory_order_release);  // pairs with the acquires
    return made;
}

uint32_t inbox_of(const Group *g, const Serial *s, uint64_t key) {
    if (g->options().kind != Kind::kPinned) return 0;
    return static_cast<uint32_t>(s != nullptr ? s->key : Keys::hash(key) % g->roster.slots());
}

// Under the lock of `s`. nullptr: no memory.
Line *line_of(Group *g, LineShard &s, const Ordering &o, uint64_t hash) {
    if (o.serial != nullptr) return o.serial;
    Line *l = s.line_of(o.key, hash);
    if (l != nullptr && l->tasks.count() == 0) l->sticky = o.mode == Ordering::kSticky && g->inbox_count == 0;
    return l;
}

// Under its shard's lock: the line is idle again. The serial whose reference is to be given back without the lock.
Serial *idle(Line *l) {
    Serial *s = l->serial();
    if (s == nullptr) l->shard->forget(l);  // and it may be gone
    return s;
}

bool add(LineShard &s, Line *l, Entry e) {  // under its lock. False: no memory
    Block *b = nullptr;
    if (l->tasks.needs_block() && (b = s.block_slabs.take_or_make()) == nullptr) return false;
    l->tasks.add(e, b);
    return true;
}

void raise(Atomic<uint64_t> &n, uint64_t by = 1) {                     // under the shard's lock
    n.store(n.load(memory_order_relaxed) + by, memory_order_release);  // pairs with the acquire in quiescent()
}

// One task has its room, and is put in.
Submit put_in(Group *g, const Ordering &o, Entry e, Outbox *out) {
    Submit why_not;
    Keys *keys = keys_of(g, &why_not);
    if (keys == nullptr) return why_not;
    const uint64_t hash = Keys::hash(o.key);
    LineShard &s = o.serial != nullptr ? *o.serial->shard : keys->shard(hash);
    const uint32_t inbox = inbox_of(g, o.serial, o.key);
    {
        Locked l(s.lock);
        if (g->closed()) return Submit::kClosed;
        Line *line = line_of(g, s, o, hash);
        if (line == nullptr) return Submit::kNoMemory;
        if (line->tasks.count() != 0) {
            if (!add(s, line, e)) return Submit::kNoMemory;
            raise(s.accepted);
            return Submit::kOk;
        }
        line->tasks.add(e, nullptr);
        if (!push_line(g, out, inbox, {run_line, line})) {
            line->tasks.forget();
            idle(line);
            return g->closed() ? Submit::kClosed : Submit::kNoMemory;
        }
        raise(s.accepted);
        raise(s.pushed);
        if (line->is_serial) line->serial()->ref();
    }
    tell_of_line(g, out, inbox);
    return Submit::kOk;
}

// Room for e. False: it is dealt with, *result says how.
bool take_room(Group *g, const Ordering &o, Outbox *out, Entry e, Submit *result) {
    if (!g->budget.bounded()) return true;
    WhenFull full{g->options().full, g->options().full_timeout};
    Inbox *in = g->inbox_count == 0 ? nullptr : &g->inboxes[inbox_of(g, o.serial, o.key)];
    Outbox *box = in == nullptr ? out : &in->box;
    uint64_t granted = 0;
    for (;;) {
        size_t fit;
        if (in == nullptr) {
            fit = room(g, box, 1, full);
            spend(g, box, fit);
        } else {
            Locked l(in->producers);
            box->credit += std::exchange(granted, 0);
            fit = room(g, box, 1, full);
            spend(g, box, fit);
            g->give_room(std::exchange(box->credit, 0));
        }
        if (fit != 0) return true;
        if (full.policy == Full::kRun) {
            g->budget.force();
            return true;
        }
        if (!when_full(g, box, e, &full, in == nullptr ? &box->credit : &granted, result)) continue;
        return false;
    }
}

Submit enter(Group *g, Outbox **out) {
    if (g->foreign()) return Submit::kForeign;
    if (g->closed()) return Submit::kClosed;
    if (!g->first_worker()) return Submit::kNoThread;
    Submit why_not = Submit::kOk;
    if (g->inbox_count == 0) *out = outbox_of(g, &why_not);
    return why_not;
}

// After n tasks of l. How many more there are, which `ahead` then knows; 0: the line is not the caller's any more. `entries`: where an
// entry counts that ends with it; nullptr: none.
uint32_t taken(Line *l, uint32_t n, bool back, Atomic<uint64_t> *entries, Backlog::Ahead *ahead = nullptr) {
    LineShard &s = *l->shard;
    Serial *let_go = nullptr;
    {
        Locked lock(s.lock);
        if (back) raise(s.handed_back, n);
        for (uint32_t i = 0; i < n; i++)
            if (Block *b = l->tasks.pop()) s.block_slabs.give(b);
        raise(s.ended, n);
        if (l->tasks.count() != 0) {
            if (ahead != nullptr) ahead->look(l->tasks);
            return l->tasks.count();
        }
        if (entries != nullptr) raise(*entries);
        let_go = idle(l);
    }
    if (let_go != nullptr) let_go->unref();
    return 0;
}

// Behind the others. False: the group is closed, or there is no memory, and the caller still has the line.
bool queue_again(Group *g, Line *l, Atomic<uint64_t> *entries) {
    Submit why_not;
    Worker *self = l->sticky ? this_thread->self : nullptr;
    if (self != nullptr && &self->group() == g) {
        Locked lock(l->shard->lock);  // as in put_in(): closed | put
        if (g->closed()) return false;
        self->kept.put(l);
        raise(l->shard->pushed);
        if (entries != nullptr) raise(*entries);
        return true;
    }
    Outbox *o = g->inbox_count == 0 ? outbox_of(g, &why_not) : nullptr;
    if (g->inbox_count == 0 && o == nullptr) return false;
    const uint32_t inbox = inbox_of(g, l->serial(), l->key);
    {
        Locked lock(l->shard->lock);  // as in put_in(): closed | the push
        if (g->closed() || !push_line(g, o, inbox, {run_line, l})) return false;
        raise(l->shard->pushed);
        if (entries != nullptr) raise(*entries);
    }
    tell_of_line(g, o, inbox);
    return true;
}

// How the caller has come by a line: what has become of its entry, and of the room of its first task.
struct Had {
    Atomic<uint64_t> *entries;
    bool room_back = true;
};

void hand_back_all(Line *l, int32_t why, Had had) {
    Group *g = l->shard->group;
    for (bool more = true; more; had.room_back = false) {
        if (!had.room_back) g->give_room(1);
        g->hand_back(l->tasks.head, why);
        if (g->foreign()) return;
        more = taken(l, 1, true, had.entries) != 0;
    }
}

// `done`: its first task has run already.
void run(Line *l, Had had, bool done = false) {
    Group *g = l->shard->group;
    const Gate &gate = g->gate;
    const bool limits = g->limits();
    const InTurn here(l);
    const uint32_t blocking = blocking_depth();
    Backlog::Ahead ahead;
    uint64_t since = 0;
    for (uint32_t ran = 0, there = 1;;) {
        Entry e = l->tasks.head;
        uint32_t n = 0;
        bool stops;
        for (;;) {
            if (!had.room_back) g->give_room(1);
            had.room_back = false;
            if (!done) limits ? run_entry(g, e) : e.fn(e.arg);
            done = false;
            if (g->foreign()) return;
            blocking_end_to(blocking);
            n++;
            ran++;
            stops = ran == kQuantum || gate.interrupts() || gate.has(Gate::kNow);
            if (n == there || stops) break;
            if ((ran & (ran - 1)) == 0) {
                const uint64_t at_now = now();
                if (since == 0) since = at_now;
                if ((stops = at_now - since > kQuantumTime)) break;
            }
            e = ahead.next();
        }
        there = taken(l, n, false, had.entries, &ahead);
        if (there == 0) break;
        if (gate.has(Gate::kNow)) {
            hand_back_all(l, kWhyShutdown, had);
            if (g->foreign()) return;
            break;
        }
        if (stops) {
            if (queue_again(g, l, had.entries)) break;
            ran = 0;
            since = 0;
        }
        there = std::min(there, kQuantum - ran);
    }
}

}  // namespace

InTurn::InTurn(const Line *l) : self_(this_thread), here_{l, self_ == nullptr ? nullptr : self_->in_line} {
    if (self_ != nullptr) self_->in_line = &here_;
}
InTurn::~InTurn() {
    if (self_ != nullptr && this_thread == self_) self_->in_line = here_.outer;  // not in the child of a fork
}

void Serial::unref() {
    if (refs_.fetch_sub(1, memory_order_acq_rel) != 1) return;  // pairs with itself: all use before the end
    Group *g = group;
    memory::destroy(this);
    registry::unref(g);
}

Submit serial_make(Group *g, Serial **out) {
    if (g->foreign()) return Submit::kForeign;
    if (g->closed()) return Submit::kClosed;
    Submit why_not;
    Keys *keys = keys_of(g, &why_not);
    if (keys == nullptr) return why_not;
    const uint32_t inbox = g->options().kind == Kind::kPinned ? g->next_in_turn() : 0;
    auto *s = memory::make<Serial>(g, &keys->any_shard(), inbox);
    if (s == nullptr) return Submit::kNoMemory;
    g->ref();
    *out = s;
    return Submit::kOk;
}

Submit submit_in_order(Group *g, const Ordering &o, Entry e) {
    registry::Call call(g);
    Outbox *out = nullptr;
    Submit s = enter(g, &out);
    if (s != Submit::kOk || !take_room(g, o, out, e, &s)) return s;
    s = put_in(g, o, e, out);
    if (s != Submit::kOk) g->give_room(1);
    return s;
}

Submit submit_ready_in_order(Group *g, const Ordering &o, Entry e) {
    Outbox *out = nullptr;
    Submit s = enter(g, &out);
    if (s != Submit::kOk) return s;
    g->budget.force();
    s = put_in(g, o, e, out);
    if (s != Submit::kOk) g->give_room(1);
    return s;
}

Submit order_in(Group *g) {
    Submit why_not = Submit::kForeign;
    return !g->foreign() && keys_of(g, &why_not) != nullptr ? Submit::kOk : why_not;
}

Turn take_turn(Group *g, const Ordering &o, Entry e, Line **line) {
    const uint64_t hash = Keys::hash(o.key);
    Keys *keys = g->keys.load(memory_order_relaxed);  // there since order_in(), before the task was made
    LineShard &s = o.serial != nullptr ? *o.serial->shard : keys->shard(hash);
    Locked l(s.lock);
    *line = line_of(g, s, o, hash);
    if (*line == nullptr) return Turn::kNoMemory;
    const bool first = (*line)->tasks.count() == 0;
    if (!add(s, *line, e)) return Turn::kNoMemory;  // never the first
    raise(s.accepted);
    if (first && (*line)->is_serial) (*line)->serial()->ref();
    if (!first) g->budget.force();
    return first ? Turn::kYours : Turn::kQueued;
}

bool unkeep(Group *g, Line *l) {
    Submit why_not;
    Outbox *o = outbox_of(g, &why_not);
    if (o == nullptr) return false;
    {
        Locked lock(l->shard->lock);
        if (g->closed() || !push_line(g, o, 0, {run_line, l})) return false;
    }
    tell_of_line(g, o, 0);
    return true;
}

void end_turn(Line *l) { run(l, {nullptr}, true); }

bool in_line_of(const Group *g, const Ordering &o) {
    if (this_thread == nullptr) return false;
    for (const InLine *at = this_thread->in_line; at != nullptr; at = at->outer) {
        const Line &l = *at->line;
        if (o.serial != nullptr ? at->line == o.serial : !l.is_serial && l.key == o.key && l.shard->group == g) return true;
    }
    return false;
}

void run_line(void *line) {
    auto *l = static_cast<Line *>(line);
    run(l, {&l->shard->entries_ended});
}

void hand_back_line(Line *l, int32_t why) {
    LineShard &s = *l->shard;
    Group *g = s.group;
    const Had had{&s.entries_back};
    if (why != kWhyDropped) return hand_back_all(l, why, had);
    g->hand_back(l->tasks.head, why);
    if (g->foreign() || taken(l, 1, true, had.entries) == 0 || queue_again(g, l, had.entries)) return;
    run(l, {had.entries, false});  // the group has just been shut down: nobody else would
}

}  // namespace hc
