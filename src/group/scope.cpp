#include "group/scope.h"

#include "group/registry.h"
#include "group/sleepers.h"
#include "task/home.h"

namespace hc {
namespace {

void release_all(Task *list) {
    while (list != nullptr) task_release(std::exchange(list, list->next));
}

}  // namespace

Submit Scope::submit(const TaskOptions &o, bool *cancelled) {
    Submit s;
    Task *t = make_scope_task(group_, this, o, &s);
    if (t == nullptr) return s;
    if (o.order) return submit_in_order(t, cancelled);
    {
        Locked l(lock_);
        *cancelled = cancelled_.load(memory_order_relaxed);
        if (!*cancelled) {
            pending_.store(pending_.load(memory_order_relaxed) + 1, memory_order_relaxed);
            t->ref();  // ours, for take_back()
            t->enqueue();
            t->next = nullptr;
            if (first_ == nullptr)
                first_ = t;
            else
                last_->next = t;
            last_ = t;
            if (waiters_ != nullptr) wake_waiters();
        }
    }
    if (*cancelled) {
        unmake_task(t);
        return Submit::kOk;
    }
    ref();  // the note's
    ThreadRecord *self = registry::record();
    Task *outer = self == nullptr ? nullptr : std::exchange(self->submits, t);
    s = hc::submit(group_, {run_next, this});
    if (self != nullptr && this_thread == self) self->submits = outer;  // not in the child of a fork
    if (s != Submit::kOk && s != Submit::kForeign) {
        unref();
        // From a task of the group it stands, though the group is closed: whoever waits will run it.
        const bool stands = s == Submit::kClosed && registry::inside(group_) && !group_->gate.has(Gate::kNow);
        const Back back = stands ? Back::kStays : take_back(t);
        if (back == Back::kPopped) replace_note(s);
        if (back != Back::kOurs) s = Submit::kOk;
    }
    if (s == Submit::kForeign) return s;
    if (s == Submit::kOk) group_->expiry.queued(group_, t->expires_at.load(memory_order_relaxed));
    task_release(t);
    return s;
}

Submit Scope::submit_in_order(Task *t, bool *cancelled) {
    {
        Locked l(lock_);
        *cancelled = cancelled_.load(memory_order_relaxed);
        if (!*cancelled) {
            pending_.store(pending_.load(memory_order_relaxed) + 1, memory_order_relaxed);
            t->ref();  // ours, beside the entry's
            t->enqueue();
            t->next = nullptr;
            t->previous = ordered_last_;
            if (t->previous == nullptr)
                ordered_ = t;
            else
                t->previous->next = t;
            ordered_last_ = t;
        }
    }
    if (*cancelled) {
        unmake_task(t);
        return Submit::kOk;
    }
    Submit s = hc::submit_in_order(group_, t->order, {run_task, t});
    if (s == Submit::kForeign) return s;
    if (s != Submit::kOk) {
        if (t->claim(Task::kQueued)) {
            Locked l(lock_);
            take_out_ordered(t);
            pending_.store(pending_.load(memory_order_relaxed) - 1, memory_order_release);  // pairs with idle()
            if (idle()) wake_waiters();
        } else {
            s = Submit::kOk;  // cancelled, or expired, meanwhile: its drop was told
        }
        task_release(t);  // what was to be the entry's
    }
    if (s == Submit::kOk) group_->expiry.queued(group_, t->expires_at.load(memory_order_relaxed));
    task_release(t);
    return s;
}

void Scope::take_out_ordered(Task *t) {
    if (t->previous == nullptr)
        ordered_ = t->next;
    else
        t->previous->next = t->next;
    if (t->next == nullptr)
        ordered_last_ = t->previous;
    else
        t->next->previous = t->previous;
}

// The first that is still queued, claimed, with a ref.
Task *Scope::claim_ordered() {
    Locked l(lock_);
    for (Task *t = ordered_; t != nullptr; t = t->next) {
        t->ref();  // first: the entry's goes as soon as its popper finds it claimed
        if (t->claim(Task::kQueued)) return t;
        t->refs.fetch_sub(1, memory_order_relaxed);  // not the last: whoever claimed it keeps one until it has been taken out of here
    }
    return nullptr;
}

bool Scope::in_line() {
    if (this_thread == nullptr || this_thread->in_line == nullptr) return false;
    Locked l(lock_);
    for (Task *t = ordered_; t != nullptr; t = t->next)
        if (in_line_of(group_, t->order)) return true;
    return false;
}

// *ours: it is claimed; otherwise it has expired.
Task *Scope::pop(bool *ours) {
    Task *t = first_;
    if (t != nullptr) first_ = t->next;
    *ours = t != nullptr && t->claim(Task::kQueued);
    return t;
}

// A note was refused, and its task is gone by another's note: that one's task would be without.
void Scope::replace_note(Submit why) {
    ref();
    if (submit_ready(group_, {run_next, this}) == Submit::kOk) return;
    hand_back_next(why == Submit::kClosed ? kWhyShutdown : kWhyNoMemory);
}

bool Scope::take_out(Task *t) {
    Task *before = nullptr;
    for (Task *at = first_; at != t; before = at, at = at->next)
        if (at == nullptr) return false;
    if (before == nullptr)
        first_ = t->next;
    else
        before->next = t->next;
    if (last_ == t) last_ = before;
    return true;
}

// It was refused.
Scope::Back Scope::take_back(Task *t) {
    Locked l(lock_);
    if (!take_out(t)) return Back::kPopped;
    t->refs.fetch_sub(1, memory_order_relaxed);  // the queue's; ours is left
    if (!t->claim(Task::kQueued)) return Back::kStays;
    pending_.store(pending_.load(memory_order_relaxed) - 1, memory_order_release);  // pairs with idle()
    if (idle()) wake_waiters();
    return Back::kOurs;
}

void Scope::run_next(void *scope) {
    auto *s = static_cast<Scope *>(scope);
    Group *g = s->group_;
    Task *t;
    bool ours;
    {
        Locked l(s->lock_);
        t = s->pop(&ours);
    }
    if (t != nullptr) {
        if (ours) run_claimed(t);
        if (g->foreign()) return;
        task_release(t);
    }
    s->unref();
}

void Scope::hand_back_next(int32_t why) {
    Task *t;
    bool ours;
    {
        Locked l(lock_);
        t = pop(&ours);
    }
    hand_back(t, ours, why);
}

void Scope::hand_back_new(int32_t why) {
    Task *t = this_thread == nullptr ? nullptr : this_thread->submits;
    bool ours;
    {
        Locked l(lock_);
        if (t != nullptr && take_out(t))
            ours = t->claim(Task::kQueued);
        else
            t = pop(&ours);
    }
    hand_back(t, ours, why);
}

// For one note.
void Scope::hand_back(Task *t, bool ours, int32_t why) {
    if (t != nullptr) {
        if (ours) drop_claimed(t, why);
        if (group_->foreign()) return;
        task_release(t);
    }
    unref();
}

Task *Scope::take_for_waiter() {
    group_->helped_begun.fetch_add(1, memory_order_relaxed);  // before the claim: a drain must not overlook it
    Task *t, *dead = nullptr;
    {
        Locked l(lock_);
        bool ours;
        while ((t = pop(&ours)) != nullptr && !ours) t->next = std::exchange(dead, t);
    }
    release_all(dead);
    if (t != nullptr) return t;
    group_->helped_ended.fetch_add(1, memory_order_release);  // pairs with the acquire in quiescent()
    group_->went_idle();                                      // a drain may have seen us begin
    return nullptr;
}

void Scope::cancel() {
    group_->helped_begun.fetch_add(1, memory_order_relaxed);  // before the claims: a drain must not overlook the drops
    Task *all, *dead = nullptr;
    {
        Locked l(lock_);
        cancelled_.store(true, memory_order_relaxed);
        bool ours;
        Task **end = &all;
        while (Task *t = pop(&ours)) {
            if (ours)
                *std::exchange(end, &t->next) = t;
            else
                t->next = std::exchange(dead, t);
        }
        *end = nullptr;
    }
    release_all(dead);
    while (all != nullptr) {
        Task *t = std::exchange(all, all->next);
        drop_claimed(t, kWhyCanceled);
        if (group_->foreign()) return;
        task_release(t);
    }
    while (Task *t = claim_ordered()) {
        drop_claimed(t, kWhyCanceled);
        if (group_->foreign()) return;
        task_release(t);
    }
    wake_sleepers(this);
    limits_stop();
    group_->helped_ended.fetch_add(1, memory_order_release);  // pairs with the acquire in quiescent()
    group_->went_idle();
}

void Scope::ended(Task *t) {
    Locked l(lock_);
    if (t->outcome != 0 && outcome_ == 0) {
        outcome_ = t->outcome;
        failure_ = std::exchange(t->failure, {});
    }
    if (t->order) take_out_ordered(t);
    // release: what the task did; pairs with the acquire in idle()
    pending_.store(pending_.load(memory_order_relaxed) - 1, memory_order_release);
    if (idle()) wake_waiters();
}

int32_t Scope::outcome() {
    Locked l(lock_);
    return outcome_;
}

void Scope::error(int32_t *code, void **payload) {
    Locked l(lock_);
    if (code != nullptr) *code = static_cast<int32_t>(failure_.set ? failure_.code : outcome_);
    if (payload != nullptr) *payload = failure_.payload;
}

bool Scope::listen(Waiter *w) {
    Locked l(lock_);
    if (idle()) return false;
    w->next = waiters_;
    waiters_ = w;
    return true;
}

void Scope::unlisten(Waiter *w) {
    Locked l(lock_);
    for (Plain<Waiter *> *at = &waiters_; *at != nullptr; at = &(*at)->next)
        if (*at == w) {
            *at = w->next;
            return;
        }
}

void Scope::wake_waiters() {
    for (Waiter *w = waiters_; w != nullptr; w = w->next) w->bed->unpark();
}

void Scope::unref() {
    if (refs_.fetch_sub(1, memory_order_acq_rel) != 1) return;  // pairs with itself: all use before the end
    Group *g = group_;
    release_all(first_);  // expired
    failure_.release();
    memory::destroy(this);
    registry::unref(g);
}

}  // namespace hc
