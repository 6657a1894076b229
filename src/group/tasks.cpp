#include "group/tasks.h"

#include "group/forks.h"
#include "group/registry.h"
#include "group/scope.h"
#include "task/home.h"

namespace hc {
namespace {

Task *make(Group *g, const TaskOptions &o, Submit *why_not) {
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
    t->body = Task::Body::kCall;
    t->result = o.result;
    t->result_drop = o.result_drop;
    t->failure = {};
    t->listeners = nullptr;
    t->inputs = nullptr;
    t->input_count = 0;
    t->input_listeners = nullptr;
    t->handles.store(1, memory_order_relaxed);
    t->refs.store(1, memory_order_relaxed);
    t->state.store(Task::kWaiting, memory_order_relaxed);
    return t;
}

void free_record(Task *t) {
    if (t->inputs != &t->one) memory::destroy_array(t->inputs, t->input_count);
    if (t->input_listeners != &t->one_listener) memory::destroy_array(t->input_listeners, t->input_count);
    t->home->give(t);
}

// Takes out the inputs of a task that waits for them no more. A listener that is just being told keeps its ref of t.
void release_inputs(Task *t) {
    Task **inputs;
    {
        Locked l(t->home->lock);
        inputs = std::exchange(t->inputs, nullptr);
    }
    if (inputs == nullptr) return;
    for (uint32_t i = 0; i < t->input_count; i++) {  // those that have not ended need not tell it any more
        Locked l(inputs[i]->home->lock);
        if (inputs[i]->unlisten(&t->input_listeners[i])) t->refs.fetch_sub(1, memory_order_relaxed);  // the caller has one
    }
    const void *keep = t->body == Task::Body::kAny ? static_cast<void *>(t->result) : nullptr;  // the winner, once
    for (uint32_t i = 0; i < t->input_count; i++)
        if (inputs[i] == keep)
            keep = nullptr;
        else
            task_release(inputs[i]);
    if (inputs != &t->one) memory::destroy_array(inputs, t->input_count);
}

// Ended, and with it the claim. Those who sleep are woken; tasks that had only this one to wait for go to *ready, each with a ref.
void end(Task *t, int32_t outcome, Task **ready) {
    t->outcome = outcome;
    if (Scope *s = t->scope) s->ended(t);
    if (!t->end()) return;
    Listener *tasks = nullptr;
    {
        Locked l(t->home->lock);
        for (Listener *at = t->listeners; at != nullptr;) {
            Listener *next = at->next;
            if (at->bed != nullptr) {
                at->bed->unpark();
            } else {
                at->next = tasks;
                tasks = at;
            }
            at = next;
        }
        t->listeners = nullptr;
    }
    while (tasks != nullptr) {
        Task *after = tasks->task;
        tasks = tasks->next;
        if (after->body == Task::Body::kAny) {
            if (!after->claim(Task::kWaiting)) {  // another was first, or it was cancelled
                task_release(after);
                continue;
            }
            after->outcome = outcome;
            after->result = t;
        } else if (after->missing.fetch_sub(1, memory_order_acq_rel) != 1) {  // pairs with itself
            task_release(after);
            continue;
        }
        after->next = *ready;
        *ready = after;
    }
}

// In a callback of g, on whatever thread. False: it has forked, and this is the child.
template <class Callback>
bool inside(Group *g, Callback &&callback) {
    if (g == nullptr || (this_thread != nullptr && this_thread->now->group == g)) {
        callback();
        return g == nullptr || !g->foreign();
    }
    registry::Call call(g);
    registry::Borrowed context(g);
    callback();
    return !g->foreign();
}

void call_drop(Group *g, Task *t, int32_t why) {
    inside(g, [&] {
        if (t->drop != nullptr)
            t->drop(t->arg, why);
        else if (g != nullptr && g->options().on_unrun != nullptr)
            g->options().on_unrun(g->options().user, t->fn, t->arg, why);
    });
}

}  // namespace

void wake_waiters(Task *t) {
    Locked l(t->home->lock);
    for (Listener *at = t->listeners; at != nullptr; at = at->next)
        if (at->bed != nullptr) at->bed->unpark();
}

namespace {

// False: it has forked, and this is the child.
bool run_body(Group *g, Task *t) {
    return inside(g, [&] {
        ThreadRecord *self = this_thread;
        if (self == nullptr) return t->fn(t->arg);
        Context here = *self->now;
        here.label = t->label;
        here.task = t;
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
        if (marked) d->end();
        if (Deque *made = t->runner.exchange(nullptr, memory_order_relaxed); made != nullptr && !marked)
            made->mark(nullptr, nullptr);  // its first fork has made the deque: see fork_in()
    });
}
int32_t outcome_of(Task *t) { return t->failure.set ? kWhyFailed : 0; }

int32_t outcome_of_all(Task *t) {
    int32_t outcome = 0;
    for (uint32_t i = 0; outcome == 0 && i < t->input_count; i++) outcome = t->inputs[i]->outcome;
    return outcome;
}

// The inputs of t have ended, one of its refs is ours.
// `ran`: they were run by the caller, who may run t as well.
void follow(Task *t, Task **ready, bool ran) {
    switch (t->body) {
        case Task::Body::kPromise: return;
        case Task::Body::kAny:  // claimed by the first
            end(t, t->outcome, ready);
            return release_inputs(t);
        case Task::Body::kAll:
            if (t->claim(Task::kWaiting)) end(t, outcome_of_all(t), ready);
            return release_inputs(t);
        case Task::Body::kCall: break;
    }
    const bool queued = t->ready();  // false: cancelled
    release_inputs(t);
    if (!queued) return;
    GroupPin g(t->home);
    if (g.get() != nullptr && g->foreign()) return;
    Submit s = Submit::kClosed;
    if (g.get() != nullptr) {
        t->ref();  // the entry's
        s = submit_ready(g.get(), {run_task, t});
        if (s == Submit::kOk) return wake_waiters(t);  // who waits in a worker may be the only one to run it
        task_release(t);
    }
    if (!t->claim(Task::kQueued)) return;
    if (s == Submit::kClosed && g.get() != nullptr && (ran || registry::inside(g.get())) && !g->gate.has(Gate::kNow)) {
        if (run_body(g.get(), t)) end(t, outcome_of(t), ready);
        return;
    }
    const int32_t why = s == Submit::kNoMemory ? kWhyNoMemory : kWhyShutdown;
    call_drop(g.get(), t, why);
    end(t, why, ready);
}

void follow_all(Task *ready, bool ran) {
    while (ready != nullptr) {
        Task *next = std::exchange(ready, ready->next);
        follow(next, &ready, ran);
        task_release(next);
    }
}

// A chain of any length, on constant stack.
void finish(Task *t, int32_t outcome, bool ran) {
    Task *ready = nullptr;
    end(t, outcome, &ready);
    follow_all(ready, ran);
}

// Joins the listeners of its inputs; those that have ended already count at once. True: all have.
bool listen_to(Task *t, Task *const *inputs) {
    const bool any = t->body == Task::Body::kAny;
    // One more than there are, so that none of them starts t before all are listened to.
    t->missing.store(t->input_count + (any ? 0 : 1), memory_order_relaxed);
    uint32_t ended = any ? 0 : 1;
    for (uint32_t i = 0; i < t->input_count; i++) {
        Task *input = inputs[i];  // not t's: they may be gone, for another was first
        t->input_listeners[i] = {nullptr, nullptr, t};
        t->ref();  // the listener's
        Locked l(input->home->lock);
        if (input->listen(&t->input_listeners[i])) continue;
        t->refs.fetch_sub(1, memory_order_relaxed);  // never the last: the creator has one
        ended++;
        if (any) {
            if (t->claim(Task::kWaiting)) {
                t->outcome = static_cast<int32_t>(input->outcome);
                t->result = input;
                return true;
            }
            return false;
        }
    }
    return !any && t->missing.fetch_sub(ended, memory_order_acq_rel) == ended;  // pairs with the one in end()
}

Submit follow_inputs(Task *t, Task *const *inputs, size_t n, Task **out) {
    t->input_count = static_cast<uint32_t>(n);
    t->inputs = n == 1 ? &t->one : memory::make_array<Task *>(n);
    t->input_listeners = n == 1 ? &t->one_listener : memory::make_array<Listener>(n);
    if (t->inputs == nullptr || t->input_listeners == nullptr) {
        free_record(t);
        return Submit::kNoMemory;
    }
    for (size_t i = 0; i < n; i++) {
        t->inputs[i] = inputs[i];
        inputs[i]->ref();
    }
    t->ref();  // ours, beside that of the handle
    t->next = nullptr;  // before others may have it in a list
    const bool ready = listen_to(t, inputs);
    if (out != nullptr) *out = t;
    if (ready)
        follow_all(t, false);  // and gives ours back
    else
        task_release(t);
    if (out == nullptr) task_unref(t);
    return Submit::kOk;
}

}  // namespace

GroupPin::GroupPin(Home *home) : group_(home->pin([](Group *g) { return g->try_ref(); })) {}
GroupPin::~GroupPin() {
    if (group_ != nullptr) registry::unref(group_);
}

Submit submit_task(Group *g, const TaskOptions &o, Task **out) {
    Submit s = Submit::kForeign;
    if (g->foreign()) return s;
    Task *t = make(g, o, &s);
    if (t == nullptr) return s;
    t->state.store(Task::kQueued, memory_order_relaxed);
    t->ref();  // the entry's
    *out = t;
    const bool here = g->options().full == Full::kRun && (o.flags & kWorkerOnly) != 0;  // must not run on this thread
    s = here ? submit_ready(g, {run_task, t}) : submit(g, {run_task, t});
    if (s == Submit::kOk || s == Submit::kForeign) return s;
    *out = nullptr;
    free_record(t);
    return s;
}

Task *make_scope_task(Group *g, Scope *s, const TaskOptions &o, Submit *why_not) {
    *why_not = Submit::kForeign;
    if (g->foreign()) return nullptr;
    *why_not = Submit::kClosed;
    if (g->closed() && (g->gate.has(Gate::kNow) || !registry::inside(g))) return nullptr;
    Task *t = make(g, o, why_not);
    if (t == nullptr) return nullptr;
    t->scope = s;
    t->state.store(Task::kQueued, memory_order_relaxed);
    return t;
}
void forget_task(Task *t) { free_record(t); }

Submit task_then(Task *before, const TaskOptions &o, Task **out) {
    GroupPin g(before->home);
    if (g.get() == nullptr) return Submit::kClosed;
    if (g->foreign()) return Submit::kForeign;
    if (g->closed() && !registry::inside(g.get())) return Submit::kClosed;
    Submit s;
    Task *t = make(g.get(), o, &s);
    return t == nullptr ? s : follow_inputs(t, &before, 1, out);
}

Submit task_after(Task::Body body, Task *const *inputs, size_t n, Task **out) {
    GroupPin g(inputs[0]->home);
    if (g.get() == nullptr) return Submit::kClosed;
    if (g->foreign()) return Submit::kForeign;
    Submit s = Submit::kClosed;
    if (g->closed() && !registry::inside(g.get())) return s;
    Task *t = make(g.get(), {}, &s);
    if (t == nullptr) return s;
    t->body = body;
    return follow_inputs(t, inputs, n, out);
}

Submit task_promise(Group *g, Task **out) {
    if (g->foreign()) return Submit::kForeign;
    Submit s = Submit::kClosed;
    if (g->closed() && !registry::inside(g)) return s;
    Task *t = make(g, {}, &s);
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
    if (run_body(t->home->group(), t)) finish(t, outcome_of(t), true);
}

void drop_claimed(Task *t, int32_t why) {
    GroupPin g(t->home);
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
        free_record(t);
        t = winner;
    }
}

void task_unref(Task *t) {
    if (t->handles.fetch_sub(1, memory_order_acq_rel) != 1) return;  // pairs with itself, as above
    if (t->body == Task::Body::kPromise) task_complete(t, kWhyCanceled, nullptr, nullptr);
    task_release(t);
}

}  // namespace hc
