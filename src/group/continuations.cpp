// What happens at the end of a task: listeners are told, and what waited for it alone goes on.
#include "group/callback.h"
#include "group/registry.h"
#include "group/scope.h"
#include "group/tasks.h"
#include "task/home.h"

namespace hc {

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

namespace {

// Ended, and with it the claim. Those who sleep are woken; tasks that had only this one to wait for go to *ready, each with a ref.
void end(Task *t, int32_t outcome, Task **ready) {
    t->outcome = outcome;
    if (Scope *s = t->scope) {
        if (t->order) s->ref();  // no note does, and whoever waits may destroy it before ended() has returned
        s->ended(t);
        if (t->order) s->unref();
    }
    forget_order(t);
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

int32_t outcome_of_all(Task *t) {
    int32_t outcome = 0;
    for (uint32_t i = 0; outcome == 0 && i < t->input_count; i++) outcome = t->inputs[i]->outcome;
    return outcome;
}

// t has an order, and its group is closed. False: no memory.
bool follow_in_turn(Group *g, Task *t, Task **ready) {
    Line *line;
    t->ref();  // the entry's
    switch (take_turn(g, t->order, {run_task, t}, &line)) {
        case Turn::kNoMemory: task_release(t); return false;
        case Turn::kQueued: wake_waiters(t); return true;
        case Turn::kYours: break;
    }
    in_callback(g, [&] {
        if (t->claim(Task::kQueued)) {
            const InTurn here(line);
            if (!run_body(g, t)) return;
            end(t, outcome_after_run(t), ready);
        }
        task_release(t);
        end_turn(line);
    });
    return true;
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
    const uint64_t expires_at = expires_after(t->queue_expiry);
    t->expires_at.store(expires_at, memory_order_relaxed);
    const bool queued = t->ready();  // false: cancelled
    release_inputs(t);
    if (!queued) return;
    GroupPin g(t->home);
    if (g.get() != nullptr && g->foreign()) return;
    Submit s = Submit::kClosed;
    if (g.get() != nullptr) {
        t->ref();  // the entry's
        const Entry e{run_task, t};
        s = t->order ? submit_ready_in_order(g.get(), t->order, e) : submit_ready(g.get(), e, t->priority);
        if (s == Submit::kOk) {
            g->expiry.queued(g.get(), expires_at);
            return wake_waiters(t);  // who waits in a worker may be the only one to run it
        }
        task_release(t);
    }
    if (t->order && s == Submit::kClosed && g.get() != nullptr && (ran || registry::inside(g.get())) && !g->gate.has(Gate::kNow)) {
        if (follow_in_turn(g.get(), t, ready)) return;
        s = Submit::kNoMemory;
    }
    if (!t->claim(Task::kQueued)) return;
    if (s == Submit::kClosed && g.get() != nullptr && (ran || registry::inside(g.get())) && !g->gate.has(Gate::kNow)) {
        if (run_body(g.get(), t)) end(t, outcome_after_run(t), ready);
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
        unmake_task(t);
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

// A chain of any length, on constant stack.
void finish(Task *t, int32_t outcome, bool ran) {
    Task *ready = nullptr;
    end(t, outcome, &ready);
    follow_all(ready, ran);
}

Submit task_then(Task *before, const TaskOptions &o, Task **out) {
    GroupPin g(before->home);
    if (g.get() == nullptr) return Submit::kClosed;
    if (g->foreign()) return Submit::kForeign;
    if (g->closed() && !registry::inside(g.get())) return Submit::kClosed;
    Submit s = o.order ? order_in(g.get()) : Submit::kOk;
    if (s != Submit::kOk) return s;
    // Now, so that it is not refused later.
    if (o.priority != Priority::kNormal && inbox_of(g.get(), o.priority, &s) == nullptr && s == Submit::kNoMemory) return s;
    Task *t = make_task(g.get(), o, &s);
    return t == nullptr ? s : follow_inputs(t, &before, 1, out);
}

Submit task_after(Task::Body body, Task *const *inputs, size_t n, Task **out) {
    GroupPin g(inputs[0]->home);
    if (g.get() == nullptr) return Submit::kClosed;
    if (g->foreign()) return Submit::kForeign;
    Submit s = Submit::kClosed;
    if (g->closed() && !registry::inside(g.get())) return s;
    Task *t = make_task(g.get(), {}, &s);
    if (t == nullptr) return s;
    t->body = body;
    return follow_inputs(t, inputs, n, out);
}

}  // namespace hc
