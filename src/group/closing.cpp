// The end of a group, in the named steps of group.h.
#include "group/group.h"
#include "group/keys.h"
#include "group/registry.h"
#include "group/scope.h"
#include "group/tasks.h"
#include "task/ticket.h"

namespace hc {

void Group::shutdown(bool now, bool keep_timers) {
    // close
    const uint64_t before = gate.raise(Gate::kClosed | (now ? Gate::kNow : 0) | (keep_timers ? 0 : Gate::kDropTimers));
    gate.lower(Gate::kPaused);
    waitlist.send_away();
    // settle
    heavy_fence();  // pairs with light_fence in a submit: kClosed | the lane
    {
        Locked l(registry::lock);
        timers.close();
        if (Keys *made = keys.load(memory_order_relaxed)) made->close();
    }
    each_inbox([](Inbox &in) { Locked l(in.producers); });
    directory.each_lane([](Lane *lane) {
        while (!lane->try_claim()) thread_yield();
        lane->close();
        lane->release();
    });
    gate.raise(Gate::kSettled);
    // end
    roster.close(*this);
    gate.wake_all();
    if (now) reap_batches();
    if ((before & Gate::kClosed) == 0) let_end();
    changed.signal();
}

// Its workers end when there is nothing left; where there is none, it ends here.
void Group::let_end() {
    if (gate.empty() && !queues_empty() && !first_worker()) {
        reap_lanes();
        while (reap_timers()) {
        }
        if (foreign()) return;
    }
    if (roster.let_end()) ended();
}

void Group::hand_back(Entry e, int32_t why) {
    if (e.fn == run_timer || e.fn == queue_timer) return hand_back_timer(static_cast<Timer *>(e.arg), why);
    if (e.fn == run_task) return hand_back_task(static_cast<Task *>(e.arg), why);
    if (e.fn == run_line) return hand_back_line(static_cast<Line *>(e.arg), why);
    if (e.fn == Scope::run_next) return static_cast<Scope *>(e.arg)->hand_back_next(why);
    if (e.fn == Ticket::run) {
        Ticket::Call call;
        return static_cast<Ticket *>(e.arg)->take(&call) ? hand_back_call({call.fn, call.arg}, call.drop, why) : void();
    }
    hand_back_call(e, nullptr, why);
}

void Group::hand_back_call(Entry e, void (*drop)(void *, int32_t), int32_t why) {
    if (why == kWhyExpired) expiry.expired.fetch_add(1, memory_order_relaxed);
    if (drop != nullptr) return drop(e.arg, why);
    if (options_.on_unrun != nullptr) options_.on_unrun(options_.user, e.fn, e.arg, why);
}

void Group::reap(const Entry *e, uint32_t n, int32_t why) {
    if (n == 0) return;
    give_room(n);
    {
        registry::Borrowed frame(this);
        for (uint32_t i = 0; i < n && !foreign(); i++) hand_back(e[i], why);
    }
    if (foreign()) return;                      // a drop has forked, and this is the child
    reaped.fetch_add(n, memory_order_release);  // pairs with the acquire in quiescent()
    went_idle();
}

// What a stuck worker has in its batch, behind the task that it is in, and what it keeps.
void Group::reap_batches() {
    Entry some[Batch::kSize];
    for (uint32_t i = 0; i < roster.made(); i++) {
        reap(some, roster.at(i).batch().steal_all(some));
        for (Line *l; !foreign() && (l = roster.at(i).kept.take()) != nullptr;) {
            const Entry e{run_line, l};
            reap(&e, 1);
        }
    }
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
        const bool ended = roster.ended() && quiescent();
        const bool in_time = ended || wait_for_change(ticket, deadline);
        changed.done();
        if (ended) break;
        if (!in_time) return false;
    }
    roster.join();
    return true;
}

}  // namespace hc
