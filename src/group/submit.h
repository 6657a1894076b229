// The way of a submit. The short way is inline here: one thread-local pointer, one push, one fence that costs nothing,
// one word. It is open to a thread whose last submit went to the same group. Anything rare sends it to the long way
// (submit.cpp):
//
//   NULL, another group, the first submit, after a fork (the record is gone)   the record does not match
//   HC_KIND_SHARED, HC_KIND_PINNED                                             the record never matches
//   a priority                                                                 submit_at()
//   a closed group, a bounded one, one without a worker                        Gate::short_way(), before the push
//   an unlisted lane, parked workers, closed meanwhile                         Gate::open(), after it: finish()
#pragma once
#include "group/group.h"
#include "group/outbox.h"
#include "queue/order.h"
namespace hc {

enum class Submit { kOk, kNoMemory, kFull, kClosed, kForeign, kNoThread, kTimedOut, kWouldWait };

Submit submit_long(Group *g, Entry e);
Submit submit_timed(Group *g, Entry e, uint64_t timeout);
Submit submit_batch_long(Group *g, const Entry *e, size_t n, size_t *accepted);
Submit submit_pinned(Group *g, uint32_t worker, Entry e);
Submit submit_at(Group *g, Entry e, Priority p);
// A task that was accepted before: there is always room for it.
Submit submit_ready(Group *g, Entry e, Priority p = Priority::kNormal);
// Where a task of a group without lanes goes, or of a priority that is not normal. nullptr: *why_not.
Inbox *inbox_of(Group *g, Priority p, Submit *why_not);
// The entry of a line (line.h), in two steps, the first under the lock of its shard: push_line() into `o`, the caller's, or in a group that
// has inboxes into the one with that number; then tell_of_line(). Neither takes room. False: no memory, or closed.
bool push_line(Group *g, Outbox *o, uint32_t inbox, Entry e);
void tell_of_line(Group *g, Outbox *o, uint32_t inbox);
// The caller's in g, made now if need be.
Outbox *outbox_of(Group *g, Submit *why_not);

// After a push, when the lane was not listed or the gate not open: how many of the entries pushed last are out again,
// for the group is closed.
size_t finish(Group *g, Outbox *o);

inline Outbox *hot(Group *g) {
    ThreadRecord *t = this_thread;
    return __builtin_expect(t != nullptr && t->hot_group.load(memory_order_relaxed) == g, 1) ? t->hot_outbox : nullptr;
}

inline size_t after_push(Group *g, Outbox *o) {
    light_fence();  // pairs with the heavy_fences in park(), tidy() and shutdown(): the push | the listing, the word
    if (__builtin_expect(o->listing.listed() && Gate::open(g->gate.read()), 1)) return 0;
    return finish(g, o);
}

inline Submit submit(Group *g, Entry e) {
    Outbox *o = hot(g);
    if (__builtin_expect(o == nullptr || !g->gate.short_way(), 0)) return submit_long(g, e);
    if (__builtin_expect(!o->push(e), 0)) return Submit::kNoMemory;
    return after_push(g, o) == 0 ? Submit::kOk : Submit::kClosed;
}

inline Submit submit_batch(Group *g, const Entry *e, size_t n, size_t *accepted) {
    Outbox *o = hot(g);
    if (__builtin_expect(o == nullptr || !g->gate.short_way(), 0)) return submit_batch_long(g, e, n, accepted);
    const size_t pushed = o->push(e, n);
    const size_t out = pushed == 0 ? 0 : after_push(g, o);
    *accepted = pushed - out;
    return out != 0 ? Submit::kClosed : pushed == n ? Submit::kOk : Submit::kNoMemory;
}

}  // namespace hc
