#include "group/tasks.h"

#include "group/callback.h"
#include "group/forks.h"
#include "group/scope.h"
#include "group/sleepers.h"
#include "task/home.h"

namespace hc {

Task *make_task(Group *g, const TaskOptions &o, Submit *why_not) {
    Outbox *out = outbox_of(g, why_not);
    if (out == nullptr) return nullptr;
    *why_not = Submit::kNoMemory;
    Home *home = out->home.load(memory_order_relaxed);
    if (home == nullptr) {
        if ((home = memory::make<Home>(g, registry::generation)) == nullptr) return nullptr;
        out->home.store(home, memory_order_release);  // pairs with the acquire in hc_group_trim()
    }
    Task *t = home->take();
    if (t == nullptr) return nullptr;
    t->fn = o.call.fn;
    t->arg = o.call.arg;
    t->drop = o.drop;
    t->label = o.label;
    t->scope = nullptr;
    t->flags = o.flags;
    t->order = o.order;
    t->holds_serial = o.order.serial != nullptr;
    if (t->holds_serial) o.order.serial->ref();
    t->body = Task::Body::kCall;
    t->run_limit = or_of_group(o.run_limit, g->options().run_limit);
    t->queue_expiry = or_of_group(o.queue_expiry, g->options().queue_expiry);
    t->expires_at.store(kNever, memory_order_relaxed);
    t->overran = false;
    t->priority = o.priority;
    t->result = o.result;
    t->result_drop = o.result_drop;
    t->failure = {};
    t->listeners = nullptr;
    t->inputs = nullptr;
    t->input_count = 0;
    t->input_listeners = nullptr;
    t->handles.store(1, memory_order_relaxed);
    t->refs.store(1, memory_order_relaxed);
    t->renew();
    return t;
}

void forget_order(Task *t) {
    if (std::exchange(t->holds_serial, false)) t->order.serial->unref();
}

// The record goes home.
static void forget_task(Task *t) {
    forget_order(t);
    if (t->inputs != &t->one) memory::destroy_array(t->inputs, t->input_count);
    if (t->input_listeners != &t->one_listener) memory::destroy_array(t->input_listeners, t->input_count);
    t->home->give(t);
}

// The reaper may have a ref for a moment: it has met the task that was in this record before.
void unmake_task(Task *t) {
    t->result_drop = nullptr;
    task_release(t);
}

void call_drop(Group *g, Task *t, int32_t why) {
    in_callback(g, [&] {
        if (t->drop != nullptr)
            t->drop(t->arg, why);
        else if (g != nullptr && g->options().on_unrun != nullptr)
            g->options().on_unrun(g->options().user, t->fn, t->arg, why);
    });
}

void wake_waiters(Task *t) {
    Locked l(t->home->lock);
    for (Listener *at = t->listeners; at != nullptr; at = at->next)
        if (at->bed != nullptr) at->bed->unpark();
}

bool run_body(Group *g, Task *t) {
    return in_callback(g, [&] {
        const bool interrupt = (t->flags & kInterrupt) != 0 && this_thread != nullptr && this_thread->self != nullptr;
        ThreadRecord *self = t->run_limit == kNever ? this_thread : registry::record();
        if (self == nullptr) return t->fn(t->arg);
        Limited limited(self, t->run_limit, t, nullptr, interrupt);
        Context here = *self->now;
        here.label = t->label;
        here.task = t;
        here.timer = nullptr;
        here.deadline = limited.deadline();
        const registry::Within within(self, here);
        Deque *d = forks_here(self);
        Deque::Level level;
        const bool marked = d != nullptr;
        if (marked) {
            self->now->forks = d;
            d->begin(&level, mark_of(t), t);
            if (t->forks_in(d)) wake_waiters(t);
        }
        t->fn(t->arg);
        if (this_thread != self) return;  // the child of a fork
        if (limited.end()) {
            t->overran = true;
            ran_past(self->now->group, {t->fn, t->arg}, t->label, limited.ran());
            if (this_thread != self) return;
        }
        if (marked) d->end();
        if (Deque *made = t->runner.exchange(nullptr, memory_order_relaxed); made != nullptr && !marked)
            made->mark(nullptr, nullptr);  // its first fork has made the deque: see fork_in()
    });
}

void run_entry(Group *g, Entry e) {
    const Ticket::Fn fn = e.fn;
    const bool bare = fn != run_task && fn != Ticket::run && fn != Scope::run_next && fn != run_timer && fn != queue_timer && fn != run_line;
    ThreadRecord *self = bare && g->limits() ? registry::record() : nullptr;
    if (self == nullptr) return fn(e.arg);
    Limited limited(self, g->options().run_limit, nullptr, nullptr, false);
    Context &here = *self->now;  // its thread's outermost, or a borrowed one: nothing else is in it
    const Deadline *outer = std::exchange(here.deadline, limited.deadline());
    fn(e.arg);
    if (this_thread != self) return;  // the child of a fork
    const bool past = limited.end();
    here.deadline = outer;
    if (past) ran_past(g, e, nullptr, limited.ran());
}

void ran_past(Group *g, Entry call, const char *label, uint64_t ns) {
    g->overran.fetch_add(1, memory_order_relaxed);
    if (g->options().on_limit != nullptr) g->options().on_limit(g->options().user, call.fn, call.arg, label, ns);
}

GroupPin::GroupPin(Home *home) : group_(home->pin([](Group *g) { return g->try_ref(); })) {}
GroupPin::~GroupPin() {
    if (group_ != nullptr) registry::unref(group_);
}

Submit submit_task(Group *g, const TaskOptions &o, Task **out) {
    Submit s = Submit::kForeign;
    if (g->foreign()) return s;
    if (g->closed()) return Submit::kClosed;  // before there is a task, which might expire, and be taken for accepted
    Task *t = make_task(g, o, &s);
    if (t == nullptr) return s;
    t->ref();  // the entry's
    const uint64_t expires_at = expires_after(t->queue_expiry);
    t->expires_at.store(expires_at, memory_order_relaxed);
    t->enqueue();
    *out = t;
    const bool here = g->options().full == Full::kRun && (o.flags & kWorkerOnly) != 0;  // must not run on this thread
    const Entry e{run_task, t};
    s = o.order ? submit_in_order(g, o.order, e) : here ? submit_ready(g, e, o.priority) : submit_at(g, e, o.priority);
    if (s == Submit::kForeign) return s;
    if (s == Submit::kOk) {
        g->expiry.queued(g, expires_at);
        return s;
    }
    return unqueue(t) ? (*out = nullptr, s) : Submit::kOk;
}

bool unqueue(Task *t) {
    const bool ours = t->claim(Task::kQueued);  // otherwise it has expired meanwhile: it was accepted
    if (ours) t->result_drop = nullptr;
    if (ours) task_release(t);  // the handle's; the reaper may have one for a moment
    task_release(t);
    return ours;
}

Task *make_scope_task(Group *g, Scope *s, const TaskOptions &o, Submit *why_not) {
    *why_not = Submit::kForeign;
    if (g->foreign()) return nullptr;
    *why_not = Submit::kClosed;
    if (g->closed() && (g->gate.has(Gate::kNow) || !registry::inside(g))) return nullptr;
    Task *t = make_task(g, o, why_not);
    if (t == nullptr) return nullptr;
    t->scope = s;
    t->expires_at.store(expires_after(t->queue_expiry), memory_order_relaxed);
    return t;
}

Submit task_promise(Group *g, Task **out) {
    if (g->foreign()) return Submit::kForeign;
    Submit s = Submit::kClosed;
    if (g->closed() && !registry::inside(g)) return s;
    Task *t = make_task(g, {}, &s);
    if (t == nullptr) return s;
    t->body = Task::Body::kPromise;
    *out = t;
    return Submit::kOk;
}

bool task_complete(Task *promise, int32_t outcome, void *result, void (*result_drop)(void *)) {
    if (!promise->claim(Task::kWaiting)) return false;
    promise->result = result;
    promise->result_drop = result_drop;
    promise->ref();  // a handle may be dropped by whoever learns of the end
    finish(promise, outcome, false);
    task_release(promise);
    return true;
}

void run_claimed(Task *t) {
    if (is_past(t->expires_at.load(memory_order_relaxed))) return drop_claimed(t, kWhyExpired);
    if (run_body(t->home->group(), t)) finish(t, outcome_after_run(t), true);
}

void drop_claimed(Task *t, int32_t why) {
    GroupPin g(t->home);
    if (why == kWhyExpired && g.get() != nullptr) g->expiry.expired.fetch_add(1, memory_order_relaxed);
    if (t->body == Task::Body::kCall) call_drop(g.get(), t, why);
    if (g.get() == nullptr || !g->foreign()) finish(t, why, false);
}

void run_task(void *task) {
    auto *t = static_cast<Task *>(task);
    Group *g = t->home->group();
    if (t->claim(Task::kQueued)) {
        run_claimed(t);
        if (g->foreign()) return;
    }
    task_release(t);
}

void hand_back_task(Task *t, int32_t why) {
    if (t->claim(Task::kQueued)) drop_claimed(t, why);
    task_release(t);
}

Task::State task_cancel(Task *t) {
    GroupPin g(t->home);
    if (g.get() != nullptr) g->helped_begun.fetch_add(1, memory_order_relaxed);  // a drain must not overlook the drop
    Task::State met;
    do {
        met = Task::kQueued;
        if (t->claim(Task::kQueued) || t->claim(Task::kWaiting)) {
            t->ref();
            drop_claimed(t, kWhyCanceled);
            release_inputs(t);
            task_release(t);
            break;
        }
        met = t->stop();
    } while (met != Task::kRunning && met != Task::kEnded);
    if (met == Task::kRunning) {
        wake_sleepers(t);
        limits_stop();
    }
    if (g.get() != nullptr && !g->foreign()) {
        g->helped_ended.fetch_add(1, memory_order_release);  // pairs with the acquire in quiescent()
        g->went_idle();
    }
    return met;
}

bool task_stops(const Task *t) { return t->stopped() || (t->scope != nullptr && t->scope->cancelled()); }

void task_release(Task *t) {
    while (t != nullptr && t->refs.fetch_sub(1, memory_order_acq_rel) == 1) {  // pairs with itself: all use before the end
        void *result = t->result;
        Task *winner = t->body == Task::Body::kAny ? static_cast<Task *>(result) : nullptr;
        if (t->result_drop != nullptr) t->result_drop(result);
        t->failure.release();
        forget_task(t);
        t = winner;
    }
}

void task_unref(Task *t) {
    if (t->handles.fetch_sub(1, memory_order_acq_rel) != 1) return;  // pairs with itself, as above
    if (t->body == Task::Body::kPromise) task_complete(t, kWhyCanceled, nullptr, nullptr);
    task_release(t);
}

}  // namespace hc
