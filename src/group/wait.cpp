// Waiting for a held task or a scope. Who waits helps, with its own only: it runs what has not begun, takes from what that has
// forked, and sleeps when there is neither, until the end or the next fork.
#include <algorithm>
#include <optional>

#include "group/blocking.h"
#include "group/forks.h"
#include "group/registry.h"
#include "group/scope.h"
#include "group/sleepers.h"
#include "group/tasks.h"
#include "sync/clock.h"
#include "task/home.h"

namespace hc {
namespace {

constexpr uint64_t kLookAgain = 1'000'000;     // ns; HC_WAIT_HELP_ANY, and see deep(): nobody rings for what others submit
constexpr uint64_t kLookAtLeast = 64'000'000;  // ns

void run_or_drop(Group *g, Task *t) {  // claimed
    if (g->gate.has(Gate::kNow))
        drop_claimed(t, kWhyShutdown);
    else
        run_claimed(t);
}

// Somebody's task, for one who waits. False: it is another's by now.
bool run_for_waiter(Group *g, Task *t) {
    g->helped_begun.fetch_add(1, memory_order_relaxed);  // before the claim: a drain must not overlook it
    const bool ours = t->claim(Task::kQueued);
    if (ours) run_or_drop(g, t);
    if (g->foreign()) return ours;
    g->helped_ended.fetch_add(1, memory_order_release);  // pairs with the acquire in quiescent()
    g->went_idle();  // also if it was not ours: a drain may have seen us begin
    return ours;
}

bool may_run(Group *g, const Task *t) {
    if (t->order) return false;  // its turn is its line's
    if ((t->flags & kWorkerOnly) == 0) return true;
    return this_thread != nullptr && this_thread->self != nullptr && &this_thread->self->group() == g;
}

// Forks under `mark` in d, a deque of g. False: none, or the caller cannot run one.
bool run_fork_under(Group *g, const void *mark, Deque *d, bool patient) {
    if (d == nullptr || d->group != g || !(patient || d->seems_busy())) return false;
    Slot *at = nullptr;  // whoever takes a fork must be able to fork, in the same group
    if (fork_enter(g, &at) != Enter::kOk) return false;
    Deque &mine = *at->deque;
    Frame *f = &mine == d || !can_help(mine) ? nullptr : d->steal(&mine, mark, patient);
    if (f != nullptr) run_fork(mine, f);
    if (!g->foreign()) fork_leave(at);
    return f != nullptr;
}

// Forks of t, which runs.
bool help_running(Task *t, bool patient) {
    GroupPin g(t->home);  // the runner is its
    if (g.get() == nullptr) return false;
    return run_fork_under(g.get(), mark_of(t), t->runner.load(memory_order_acquire), patient);  // pairs with run_body()
}

// The only task that follows t, with a reference; nullptr: none, or there are several.
Task *only_follower(Task *t) {
    Task *found = nullptr;
    Locked l(t->home->lock);
    for (Listener *at = t->listeners; at != nullptr; at = at->next) {
        if (at->task == nullptr) continue;
        if (found != nullptr) return nullptr;
        found = at->task;
    }
    if (found != nullptr) found->ref();
    return found;
}

// Runs t, which is queued, and then what follows it, as long as that is one task: thus a chain is walked down only once.
bool run_chain(Task *t) {
    bool ran = false;
    t->ref();
    while (t != nullptr) {
        Task *next = nullptr;
        if (t->stage() == Task::kQueued) {
            next = only_follower(t);
            GroupPin g(t->home);
            if (g.get() != nullptr && may_run(g.get(), t) && run_for_waiter(g.get(), t)) {
                ran = true;
                if (g->foreign()) return true;
            } else if (next != nullptr) {
                task_release(std::exchange(next, nullptr));
            }
        }
        task_release(std::exchange(t, next));
    }
    return ran;
}

bool help_with(Task *t, int &looks);

// The input with this number, with a reference; nullptr: t waits no more.
Task *input_of(Task *t, uint32_t i) {
    Locked l(t->home->lock);
    if (t->inputs == nullptr) return nullptr;
    t->inputs[i]->ref();
    return t->inputs[i];
}

// t waits for several. They may be of other groups.
bool help_with_inputs(Task *t, int &looks) {
    for (uint32_t i = 0; i < t->input_count && looks-- > 0; i++) {
        Task *input = input_of(t, i);
        if (input == nullptr) return false;
        const bool helped = !input->ended() && help_with(input, looks);
        task_release(input);
        if (helped) return true;
    }
    return false;
}

// `looks`: at so many inputs of those that have several, for there may be very many ways down.
bool help_with(Task *t, int &looks) {
    t->ref();
    while (t->stage() == Task::kWaiting && t->input_count == 1) {  // down a chain
        Task *input = input_of(t, 0);
        if (input == nullptr) break;
        task_release(std::exchange(t, input));
    }
    bool helped = false;
    switch (t->stage()) {
        case Task::kWaiting: helped = help_with_inputs(t, looks); break;
        case Task::kRunning: helped = help_running(t, false); break;
        case Task::kQueued: helped = run_chain(t); break;
        case Task::kEnded: break;
    }
    task_release(t);
    return helped;
}

// Anything that is queued in g.
bool help_any(Group *g) {
    if (g->gate.paused()) return false;
    Worker *self = this_thread == nullptr ? nullptr : this_thread->self;
    if (self != nullptr && &self->group() == g) return self->help();
    uint32_t at = 0;
    Entry e;
    const auto pop = [&](Lane &lane) {
        if (lane.empty() || !lane.try_claim()) return false;
        const bool got = lane.pop(&e, 1) != 0;
        lane.release();
        return got;
    };
    const auto pop_level = [&](Priority p) {
        Inbox *in = g->levels.find(p);
        return in != nullptr && pop(in->box);
    };
    const auto pop_normal = [&] {
        switch (g->options().kind) {
            case Kind::kStealing: return g->directory.each_listed(&at, [&](Lane *lane) { return pop(*lane); });
            case Kind::kShared: return pop(g->inboxes[0].box);
            case Kind::kPinned: break;
        }
        return false;
    };
    if (!pop_level(Priority::kHigh) && !pop_normal() && !pop_level(Priority::kLow)) return false;
    g->taken_begun.fetch_add(1, memory_order_relaxed);
    g->give_room(1);
    const auto *task = e.fn == run_task ? static_cast<const Task *>(e.arg) : nullptr;
    const bool not_here = e.fn == run_line || (task != nullptr && !may_run(g, task));
    const bool back = not_here && submit_ready(g, e, task == nullptr ? Priority::kNormal : task->priority) == Submit::kOk;
    if (!back) {
        registry::Call call(g);
        registry::Borrowed context(g);
        if (g->gate.has(Gate::kNow))
            g->hand_back(e);
        else
            run_entry(g, e);
    }
    if (g->foreign()) return true;
    g->taken_ended.fetch_add(1, memory_order_release);  // pairs with the acquire in quiescent()
    g->went_idle();
    return !back;
}

// The loop of every wait.
//   What::ended()          it is over
//   What::help()           ran something of its own
//   What::listen(bed), unlisten()   asks to be woken at the end; false: it is over
//   What::watched()        the deque whose next fork may be of use, or nullptr
//   What::deep()           it waits for others, which may be queued some time, and nobody rings for that
template <class What>
Waited wait(What &what, Group *g, uint64_t timeout, uint32_t how) {
    if (what.ended()) return Waited::kDone;
    if (timeout == 0) return Waited::kTimedOut;
    // For ever, but with a deadline: without one the kernel goes on after a handler with SA_RESTART.
    const uint64_t for_ever = (how & kInterruptible) != 0 ? kNever - 1 : kNever;
    const uint64_t deadline = timeout == kNever ? for_ever : after(timeout);
    const bool helps = (how & kNoHelp) == 0, any = (how & kHelpAny) != 0 && g != nullptr;
    const bool stoppable = (how & kInterruptible) != 0;
    const Undisturbed by_signals;
    Parker bed;
    std::optional<Sleeper> sleeper;
    bool listens = false;
    const bool worker = this_thread != nullptr && this_thread->self != nullptr;  // may be the only one to run what is queued
    uint64_t look_again = kLookAgain;
    Waited result = Waited::kTimedOut;
    for (int tries = 0;;) {
        if (what.ended()) {
            result = Waited::kDone;
            break;
        }
        if (stoppable && stops()) {
            result = Waited::kStopped;
            break;
        }
        if ((helps && what.help(false)) || (any && help_any(g))) {
            tries = 0;
            if (deadline != kNever && now() >= deadline && !what.ended()) break;
            continue;
        }
        if (g != nullptr && g->foreign()) break;
        if (tries++ < kTriesBeforeSleep && !what.deep()) {
            cpu_relax();
            continue;
        }
        if (deadline != kNever && now() >= deadline) break;
        if (!listens) {
            if (!what.listen(&bed)) continue;
            listens = true;
            if (stoppable) sleeper.emplace(&bed);
            continue;
        }
        Deque *watched = helps ? what.watched() : nullptr;
        Deque::Watch watch{&bed};
        bool sleep = true;
        if (watched != nullptr) {
            ask_for_forks(*watched, &watch);
            sleep = !what.help(true);
        }
        Woken woken = Woken::kMaybe;
        const bool looks = any || (helps && worker && what.deep());
        if (sleep && !what.ended()) {
            const Blocking declared;
            woken = bed.park_until(looks ? std::min(deadline, after(look_again)) : deadline);
        }
        if (!any && woken == Woken::kTimedOut) look_again = std::min(2 * look_again, kLookAtLeast);
        if (watched != nullptr) watched->unwatch(&watch);
        if (woken == Woken::kInterrupted && (how & kInterruptible) != 0) {
            result = what.ended() ? Waited::kDone : Waited::kInterrupted;
            break;
        }
    }
    if (listens) what.unlisten();
    return result;
}

struct ForTask {
    Task *t;
    Listener listener{};
    bool ended() const { return t->ended(); }
    bool help(bool patient) {
        if (patient && t->stage() == Task::kRunning) return help_running(t, true);
        int looks = 100;
        return help_with(t, looks);
    }
    bool listen(Parker *bed) {
        listener.bed = bed;
        Locked l(t->home->lock);
        return t->listen(&listener);
    }
    void unlisten() {
        Locked l(t->home->lock);
        t->unlisten(&listener);
    }
    bool deep() const { return t->stage() == Task::kWaiting && t->input_count != 0; }
    Deque *watched() { return t->runner.load(memory_order_acquire); }  // pairs with run_body()
};

struct ForScope {
    Scope *s;
    Group *g;
    Scope::Waiter waiter{};
    bool ended() const { return s->idle(); }
    bool help(bool patient) {
        if (Task *t = s->take_for_waiter()) {
            run_or_drop(g, t);
            if (g->foreign()) return true;
            g->helped_ended.fetch_add(1, memory_order_release);  // pairs with the acquire in quiescent()
            g->went_idle();
            task_release(t);
            return true;
        }
        for (Deque *d = g->deques(); d != nullptr; d = d->next)
            if (run_fork_under(g, s, d, patient)) return true;
        return false;
    }
    bool listen(Parker *bed) {
        waiter.bed = bed;
        return s->listen(&waiter);
    }
    void unlisten() { s->unlisten(&waiter); }
    bool deep() const { return false; }
    Deque *watched() { return nullptr; }
};

template <class In>
bool in_context(In &&in) {
    if (this_thread != nullptr)
        for (const Context *c = this_thread->now; c != nullptr; c = c->outer)
            if (c->task != nullptr && in(c->task)) return true;
    return false;
}

}  // namespace

Waited wait_for_task(Task *t, uint64_t timeout, uint32_t how) {
    if (t->ended()) return Waited::kDone;
    if (in_context([&](const Task *in) { return in == t; })) return Waited::kDeadlock;
    GroupPin g(t->home);
    if (t->order && in_line_of(g.get(), t->order)) return Waited::kDeadlock;
    ForTask what{t};
    return wait(what, g.get(), timeout, how);
}

Waited wait_for_scope(Scope *s, uint64_t timeout, uint32_t how) {
    if (in_context([&](const Task *in) { return in->scope == s; }) || s->in_line()) return Waited::kDeadlock;
    ForScope what{s, s->group()};
    return wait(what, s->group(), timeout, how);
}

}  // namespace hc
