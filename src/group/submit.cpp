#include "group/submit.h"

#include <algorithm>
#include <utility>

#include "group/line.h"
#include "group/overload.h"
#include "group/registry.h"

namespace hc {
namespace {

void wake_for(Group *g) {
    if (g->after_publish()) g->submit_wakes.fetch_add(1, memory_order_relaxed);
}

// Anybody, but for a task that only one may run.
void wake_owner(Group *g, Inbox *in) {
    light_fence();  // pairs with heavy_fence in park(): the push | the word
    if (g->options().kind != Kind::kPinned || in->level != Priority::kNormal)
        wake_for(g);
    else if (g->gate.wake(static_cast<uint32_t>(in - g->inboxes)))
        g->submit_wakes.fetch_add(1, memory_order_relaxed);
}

// Under its lock, after a push.
void show_high(Group *g, Inbox *in) {
    if (in->level == Priority::kHigh && !g->gate.high()) g->gate.raise(Gate::kHigh);
}

// Pushes a prefix of e[0..n), as far as there is room and memory.
Submit push_all(Group *g, Outbox *o, const Entry *e, size_t n, size_t *accepted, WhenFull full) {
    while (*accepted < n) {
        const size_t fit = room(g, o, n - *accepted, full);
        if (fit == 0) {
            Submit s;
            if (!when_full(g, o, e[*accepted], &full, &o->credit, &s)) continue;
            *accepted += s == Submit::kOk || s == Submit::kForeign;  // the latter: it has run, and forked
            if (s != Submit::kOk) return s;
            if (*accepted < n && g->closed()) return Submit::kClosed;
            continue;
        }
        const size_t done = o->push(e + *accepted, fit);
        const size_t out = done == 0 ? 0 : after_push(g, o);
        spend(g, o, done - out);
        *accepted += done - out;
        if (out != 0) return Submit::kClosed;
        if (done < fit) {
            g->give_room(std::exchange(o->credit, 0));
            return Submit::kNoMemory;
        }
    }
    return Submit::kOk;
}

Submit into_lane(Group *g, const Entry *e, size_t n, size_t *accepted, WhenFull full) {
    Submit why_not;
    Outbox *o = outbox_of(g, &why_not);
    return o == nullptr ? why_not : push_all(g, o, e, n, accepted, full);
}

// No callback must run under the lock: one task at a time is dealt with when the queue is full.
Submit into_inbox(Group *g, Inbox *in, const Entry *e, size_t n, size_t *accepted, WhenFull full) {
    uint64_t granted = 0;
    while (*accepted < n) {
        size_t done = 0, fit;
        {
            Locked l(in->producers);
            in->box.credit += std::exchange(granted, 0);
            fit = g->closed() ? 0 : room(g, &in->box, n - *accepted, full);
            if (fit != 0) {
                done = in->box.push(e + *accepted, fit);
                spend(g, &in->box, done);
                show_high(g, in);
            }
            g->give_room(std::exchange(in->box.credit, 0));
        }
        if (g->closed() && done == 0) return Submit::kClosed;
        if (fit == 0) {
            Submit s;
            if (!when_full(g, &in->box, e[*accepted], &full, &granted, &s)) continue;
            *accepted += s == Submit::kOk || s == Submit::kForeign;
            if (s != Submit::kOk) return s;
            continue;
        }
        *accepted += done;
        if (done != 0) wake_owner(g, in);
        if (done < fit) return Submit::kNoMemory;
    }
    return Submit::kOk;
}

Submit dispatch(Group *g, const Entry *e, size_t n, size_t *accepted, WhenFull full) {
    *accepted = 0;
    if (g->foreign()) return Submit::kForeign;
    if (g->closed()) return Submit::kClosed;
    if (!g->first_worker()) return Submit::kNoThread;
    switch (g->options().kind) {
        case Kind::kStealing: return into_lane(g, e, n, accepted, full);
        case Kind::kShared: return into_inbox(g, &g->inboxes[0], e, n, accepted, full);
        case Kind::kPinned: break;
    }
    for (size_t i = 0; i < n; i++) {
        size_t one = 0;
        const Submit s = into_inbox(g, &g->inboxes[g->next_in_turn()], e + i, 1, &one, full);
        *accepted += one;
        if (s != Submit::kOk) return s;
    }
    return Submit::kOk;
}

// A bounded group, on the short way but for the room: the common cases.
bool quick(Group *g, Entry e, Submit *result) {
    Outbox *o = hot(g);
    if (o == nullptr || g->closed() || g->gate.empty()) return false;
    if (o->credit != 0) {
        *result = Submit::kNoMemory;
        if (!o->push(e)) return true;
        o->credit--;
        *result = Submit::kOk;
        if (after_push(g, o) == 0) return true;
        o->credit++;
        *result = Submit::kClosed;
        return true;
    }
    if (!stays_full(g, o)) return false;
    *result = run_here(g, o, e) ? Submit::kOk : Submit::kForeign;
    return true;
}

WhenFull of_group(const Group *g) { return {g->options().full, g->options().full_timeout}; }

}  // namespace

Outbox *outbox_of(Group *g, Submit *why_not) {
    if (Outbox *o = hot(g)) return o;
    bool closed = false;
    Outbox *o = registry::bind(g, &closed);
    if (o == nullptr) {
        *why_not = closed ? Submit::kClosed : Submit::kNoMemory;
        return nullptr;
    }
    if (g->inbox_count == 0) {
        this_thread->hot_outbox = o;
        this_thread->hot_group.store(g, memory_order_relaxed);
    }
    return o;
}

Inbox *inbox_of(Group *g, Priority p, Submit *why_not) {
    bool closed = false;
    const bool normal = p == Priority::kNormal;
    Inbox *in = normal ? &g->inboxes[g->options().kind == Kind::kShared ? 0 : g->next_in_turn()] : g->level(p, &closed);
    *why_not = closed ? Submit::kClosed : Submit::kNoMemory;
    return in;
}

Submit submit_ready(Group *g, Entry e, Priority p) {
    if (g->closed()) return Submit::kClosed;
    Submit s;
    if (g->inbox_count == 0 && p == Priority::kNormal) {
        Outbox *o = outbox_of(g, &s);
        if (o == nullptr) return s;
        g->budget.force();
        const bool pushed = o->push(e);
        if (pushed && after_push(g, o) == 0) return Submit::kOk;
        g->give_room(1);
        return pushed ? Submit::kClosed : Submit::kNoMemory;
    }
    Inbox *in = inbox_of(g, p, &s);
    if (in == nullptr) return s;
    {
        Locked l(in->producers);
        if (g->closed()) return Submit::kClosed;
        g->budget.force();
        if (!in->box.push(e)) {
            g->give_room(1);
            return Submit::kNoMemory;
        }
        show_high(g, in);
    }
    wake_owner(g, in);
    return Submit::kOk;
}

bool push_line(Group *g, Outbox *o, uint32_t inbox, Entry e) {
    if (g->inbox_count == 0) return o->push(e);
    Locked l(g->inboxes[inbox].producers);
    return !g->closed() && g->inboxes[inbox].box.push(e);
}

void tell_of_line(Group *g, Outbox *o, uint32_t inbox) {
    if (g->inbox_count == 0)
        after_push(g, o);
    else
        wake_owner(g, &g->inboxes[inbox]);
}

Submit submit_batch_long(Group *g, const Entry *e, size_t n, size_t *accepted) {
    registry::Call call(g);
    return dispatch(g, e, n, accepted, of_group(g));
}

Submit submit_long(Group *g, Entry e) {
    registry::Call call(g);
    Submit s;
    size_t accepted;
    return quick(g, e, &s) ? s : dispatch(g, &e, 1, &accepted, of_group(g));
}

Submit submit_at(Group *g, Entry e, Priority p) {
    if (p == Priority::kNormal) return submit(g, e);
    registry::Call call(g);
    Submit s;
    if (g->foreign()) return Submit::kForeign;
    if (g->closed()) return Submit::kClosed;
    if (!g->first_worker()) return Submit::kNoThread;
    Inbox *in = inbox_of(g, p, &s);
    if (in == nullptr) return s;
    size_t accepted = 0;
    return into_inbox(g, in, &e, 1, &accepted, of_group(g));
}

Submit submit_timed(Group *g, Entry e, uint64_t timeout) {
    registry::Call call(g);
    size_t accepted;
    return dispatch(g, &e, 1, &accepted, {Full::kWait, timeout});
}

Submit submit_pinned(Group *g, uint32_t worker, Entry e) {
    if (g->foreign()) return Submit::kForeign;
    registry::Call call(g);
    size_t accepted = 0;
    return into_inbox(g, &g->inboxes[worker], &e, 1, &accepted, of_group(g));
}

size_t finish(Group *g, Outbox *o) {
    if (!o->listing.listed()) {
        o->listing.list();
        light_fence();  // pairs with heavy_fence in park(): the listing | the word
    }
    if (!g->closed()) {
        wake_for(g);
        return 0;
    }
    // The push may have come before the lane's count was made final, or after.
    while (!g->gate.has(Gate::kSettled)) thread_yield();
    const size_t out = o->uncount_late();
    if (out != 0) g->went_idle();
    return out;
}

}  // namespace hc
