// The end of a group, in the named steps of group.h.
#include "group/group.h"
#include "group/registry.h"
#include "group/scope.h"
#include "group/tasks.h"
#include "task/ticket.h"

namespace hc {

void Group::shutdown(bool now, bool keep_timers) {
    // close
    gate.raise(Gate::kClosed | (now ? Gate::kNow : 0) | (keep_timers ? 0 : Gate::kDropTimers));
    // settle
    heavy_fence();  // pairs with light_fence in a submit: kClosed | the lane
    for (uint32_t i = 0; i < inbox_count; i++) Locked l(inboxes[i].producers);
    {
        Locked l(registry::lock);
        timers.close();
    }
    directory.each_lane([](Lane *lane) {
        while (!lane->try_claim()) thread_yield();
        lane->close();
        lane->release();
    });
    gate.raise(Gate::kSettled);
    // end
    gate.wake_all();
    if (now) reap_batches();
    changed.signal();
}

void Group::hand_back(Entry e) {
    if (e.fn == run_timer) return hand_back_timer(static_cast<Timer *>(e.arg));
    if (e.fn == run_task) return hand_back_task(static_cast<Task *>(e.arg), kWhyShutdown);
    if (e.fn == Scope::run_next) return static_cast<Scope *>(e.arg)->hand_back_next(kWhyShutdown);
    if (e.fn == Ticket::run) {
        auto *t = static_cast<Ticket *>(e.arg);
        const auto drop = t->drop;
        const Entry call{t->fn, t->arg};
        const bool ours = t->claim();
        t->home->give(t);
        if (!ours) return;
        if (drop != nullptr) return drop(call.arg, kWhyShutdown);
        e = call;
    }
    if (options_.on_unrun != nullptr) options_.on_unrun(options_.user, e.fn, e.arg, kWhyShutdown);
}

void Group::reap(const Entry *e, uint32_t n) {
    if (n == 0) return;
    budget.give(n);
    {
        registry::Borrowed frame(this);
        for (uint32_t i = 0; i < n && !foreign(); i++) hand_back(e[i]);
    }
    if (foreign()) return;                      // a drop has forked, and this is the child
    reaped.fetch_add(n, memory_order_release);  // pairs with the acquire in quiescent()
    went_idle();
}

// What a stuck worker has in its batch, behind the task that it is in.
void Group::reap_batches() {
    Entry some[Batch::kSize];
    for (uint32_t i = 0; i < worker_count; i++) reap(some, workers[i].batch().steal_all(some));
}

void Group::reap_lanes() {
    Entry some[64];
    each_box([&](Outbox &o) {
        while (!o.empty()) {
            if (!o.try_claim()) {
                thread_yield();
                continue;
            }
            const auto n = static_cast<uint32_t>(o.pop(some, 64));
            o.release();
            if (n == 0) thread_yield();  // a late push, about to be taken back
            reap(some, n);
        }
    });
}

bool Group::reap_timers() {
    if (timers.all_gone()) return false;
    uint32_t n;
    {
        registry::Borrowed frame(this);
        n = timers.hand_back_some(this);
    }
    if (n == 0 || foreign()) return false;      // a drop has forked, and this is the child
    reaped.fetch_add(n, memory_order_release);  // pairs with the acquire in quiescent()
    atomic_thread_fence(memory_order_seq_cst);  // pairs with itself: the last two, of two shards
    if (timers.all_gone()) went_idle();
    return true;
}

bool Group::await(uint64_t deadline) {
    for (;;) {
        const uint32_t ticket = changed.prepare();
        if (gate.has(Gate::kSettled) && gate.has(Gate::kNow)) {
            reap_batches();
            reap_lanes();
            while (reap_timers()) {
            }
        }
        if (foreign()) return false;
        // Not only the workers: others may be handing back, or running what did not fit.
        const bool ended = alive_.load(memory_order_relaxed) == 0 && quiescent();
        const bool in_time = ended || changed.wait(ticket, deadline);
        changed.done();
        if (ended) break;
        if (!in_time) return false;
    }
    join();
    return true;
}

void Group::join() {
    Locked l(join_lock_);
    if (joined_) return;
    for (uint32_t i = 0; i < started_; i++) thread_join(workers[i].thread());
    joined_ = true;
}

}  // namespace hc
