// Tickets above their record: how they are submitted, and how they run: out of the record first, which another submit may use at once,
// then with their label and their limit in view.
#include "group/group.h"
#include "group/registry.h"
#include "group/tasks.h"
#include "sync/clock.h"
#include "task/ticket.h"

namespace hc {
namespace {

void fill(Ticket *t, Group *g, const TaskOptions &o, uint64_t expires_at) {
    t->carry({o.call.fn, o.call.arg, o.drop});
    t->label = o.label;
    t->run_limit = or_of_group(o.run_limit, g->options().run_limit);
    t->expires_at.store(expires_at, memory_order_relaxed);
    t->enqueue();
}

// The tickets of a lane are its submitter's; those of an inbox are taken under its lock.
Ticket *make(Group *g, const TaskOptions &o, uint64_t expires_at, Submit *why_not) {
    const auto from = [&](Recycler<Ticket> &home) {
        Ticket *t = home.take();
        if (t == nullptr) return t;
        t->home = &home;
        fill(t, g, o, expires_at);
        return t;
    };
    *why_not = Submit::kNoMemory;
    if (g->inbox_count != 0 || o.priority != Priority::kNormal) {
        Inbox *in = o.priority == Priority::kNormal ? &g->inboxes[0] : inbox_of(g, o.priority, why_not);
        if (in == nullptr) return nullptr;
        *why_not = Submit::kNoMemory;
        Locked l(in->producers);
        return from(in->box.tickets);
    }
    Outbox *out = outbox_of(g, why_not);
    if (out == nullptr) return nullptr;
    *why_not = Submit::kNoMemory;
    return from(out->tickets);
}

}  // namespace

Submit submit_ticket(Group *g, const TaskOptions &o, Push push, uint64_t with) {
    if (g->foreign()) return Submit::kForeign;
    if (g->closed()) return Submit::kClosed;  // before there is a ticket, which might expire, and be taken for accepted
    const uint64_t expires_at = expires_after(or_of_group(o.queue_expiry, g->options().queue_expiry));
    Submit s;
    Ticket *t = make(g, o, expires_at, &s);
    if (t == nullptr) return s;
    s = o.order ? submit_in_order(g, o.order, {Ticket::run, t}) : push(g, {Ticket::run, t}, with);
    if (s == Submit::kForeign) return s;  // it has run, and forked
    if (s == Submit::kOk) {
        g->expiry.queued(g, expires_at);
        return s;
    }
    Ticket::Call call;
    return t->take(&call) ? s : Submit::kOk;  // it has expired: it was accepted
}

void Ticket::run(void *ticket) {
    auto *t = static_cast<Ticket *>(ticket);
    const char *label = t->label;
    const uint64_t limit = t->run_limit, expires_at = t->expires_at.load(memory_order_relaxed);
    Call call;
    if (!t->take(&call)) return;
    ThreadRecord *self = this_thread;
    if (self == nullptr) return call.fn(call.arg);
    Group *g = self->now->group;
    if (is_past(expires_at)) return g->hand_back_call({call.fn, call.arg}, call.drop, kWhyExpired);
    Limited limited(self, limit, nullptr, nullptr, false);
    Context like = *self->now;
    like.label = label;
    like.deadline = limited.deadline();
    const registry::Within within(self, like);
    call.fn(call.arg);
    if (limited.end()) ran_past(g, {call.fn, call.arg}, label, limited.ran());
}

}  // namespace hc
