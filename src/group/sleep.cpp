// How a worker takes part in the protocol of gate.h.
#include <algorithm>

#include "group/group.h"
#include "group/worker.h"
#include "sync/clock.h"

namespace hc {

// A batch of timers, which should take less time than it costs to wake somebody for the rest of it. If it takes longer, whoever has
// the other seat comes and takes that rest.
bool Worker::rest_is_covered() const {
    if (!was_due_ || batch_.rest() > pace_ / 4) return false;
    atomic_thread_fence(memory_order_seq_cst);  // pairs with the fences in park() and found_work() of who gets up: the rest | the seat
    return group_.timers.watch.covers(due_at_);
}

// Of its batch.
uint64_t Worker::left_to_others(Next next) const {
    const uint64_t rest = batch_.rest();
    if (next == Next::kRest) return rest;
    return rest > 1 && !rest_is_covered() ? rest - 1 : 0;
}

// A batch has been filled: before its first task runs, make sure that what else is there has somebody to look at it.
// A worker that goes away from short forks into something else must be replaced; one that runs such a fork will be back. One that goes
// to rest leaves its whole batch to the others.
void Worker::publish(bool was_searching, Next next) {
    const bool others_may_run_it = group_.options().kind != Kind::kPinned;
    const auto more = [&](uint32_t most) {
        if (!others_may_run_it) return static_cast<uint32_t>(std::min<uint64_t>(group_.levels.queued(), most));
        const uint32_t mine = static_cast<uint32_t>(std::min<uint64_t>(left_to_others(next), most));
        return mine == most ? most : mine + work_left(most - mine, next != Next::kFork || forks_matter());
    };
    uint32_t woken = 0;
    if (was_searching) {
        woken = group_.gate.found_work([&](uint32_t most) {
            const bool diverted = others_may_run_it && group_.divert_forks(), room = group_.take_more_room();
            if (diverted || room)
                heavy_fence();  // pairs with light_fence in Deque::push() and in a submit: the limit | the fork; the word | the queues
            const uint32_t left = more(most);
            return left == 0 && (group_.timers.uncovered() || (group_.lines_are_kept() && !group_.watches_kept())) ? 1 : left;
        }, [&](uint32_t wanted) { return group_.wake_one(wanted); });
    } else if (others_may_run_it &&
               (left_to_others(next) != 0 || (owes_look_ && more(1) != 0) || (!kept.empty() && !group_.watches_kept()))) {
        light_fence();  // pairs with heavy_fence in park(): the batch | the word
        woken = group_.after_publish();
    }
    owes_look_ = false;
    group_.look_after();
    if (woken != 0) counters.wakes.add(woken);
}

// Short forks: nobody is to be woken for them, which costs their owner a thousand times what they cost. Instead, one of the
// workers that met them keeps watch: parked like the others, but only until its pause is over; it then steals one and sees
// whether they are still short. While it watches, forks do not ring.
//
// Rule: a fork is looked at within kLongPause, or rings.
// A watch that has met no fork at all for some time ends, and forks ring again. True: this worker keeps it.
bool Worker::watch_forks() {
    constexpr uint32_t kIdleWatches = 16;
    if (!forks_matter() && ++idle_watches_ > kIdleWatches) fork_pause_ = idle_watches_ = 0;
    return !forks_matter() && group_.begin_watch();
}

// When it may leave, if nothing comes. Those that are woken first, the lowest, stay: a sleep with an end costs more. Nobody leaves a
// group that is paused, or waits for the last of its timers: who does not leave after all would look at the clock all the time.
uint64_t Worker::idle_until() {
    if (!group_.roster.may_leave(index_) || group_.closed() || group_.gate.paused()) return kNever;
    if (idle_since_ == 0) idle_since_ = now();
    const uint64_t keep = group_.roster.keep_alive();
    return keep < kNever - idle_since_ ? idle_since_ + keep : kNever;
}

// Returns SEARCHING.
bool Worker::park(bool searching) {
    Gate &gate = group_.gate;
    const bool stealing = group_.options().kind == Kind::kStealing, paused = gate.paused();
    if (stealing && !paused && watch_forks()) return keep_watch(searching);
    const Watch::Turn turn = paused ? Watch::Turn{} : group_.timers.begin_watch(index_);
    Directory::Unlisted unlisted;
    if (stealing && !turn.nap) group_.directory.unlist_empty(&unlisted);
    gate.announce(index_, searching);
    if (stealing && forks_matter()) group_.divert_forks();
    if (turn.nap) {
        atomic_thread_fence(memory_order_seq_cst);  // pairs with the fence in Timers::armed(): the seat | Shard::next
    } else {
        // Pairs with light_fence in a submit and in publish(): the word, the listing and the limit | the queues.
        // And with heavy_fence in Group::go_on(): the word | the word
        heavy_fence();
        counters.barriers.add();
    }
    bool found = stealing && group_.directory.relist(unlisted);
    found = found || work_left(1, forks_matter()) != 0 || group_.timers.missed(turn) || interrupted_;
    found = (found && !gate.paused()) || group_.winding_up() || (paused && !gate.paused());
    if (found && gate.cancel(index_)) {
        group_.timers.end_watch(turn, false);
        return false;
    }
    counters.parks.add();
    const bool watches = stealing && !paused && group_.lines_are_kept() && group_.begin_kept_watch();
    // Who waits for the next timer stays as long as there is one.
    const uint64_t leave_at = turn.seat == 0 || interrupted_ || watches ? kNever : idle_until();
    const uint64_t until = std::min({turn.until, leave_at, watches ? after(kLook) : kNever});
    bool timed_out = false;
    if (until == kNever) {
        gate.sleep(index_);
    } else {
        timed_out = !gate.sleep_until(index_, until);
        if (timed_out && !gate.cancel(index_)) gate.sleep(index_);  // a token is on its way
    }
    if (watches) group_.end_kept_watch();
    group_.timers.end_watch(turn, timed_out && until == turn.until);
    return timed_out && until == leave_at;
}

// SEARCHING, and nothing has come for as long as it was to wait. True: gone. It says so first and then looks a last time, as who
// parks does: the word, the limit | the queues. If there is work after all, it takes its place back; if that has been taken,
// somebody has come to do it. Who shuts the group down finds it gone, and lets another come if there is need of one.
bool Worker::leave() {
    idle_since_ = 0;
    if (!group_.roster.leave(*this)) return false;
    if (group_.options().kind == Kind::kStealing) group_.divert_forks();
    heavy_fence();  // pairs with light_fence in a submit and in publish()
    counters.barriers.add();
    const bool needed = work_left(1, true) != 0 || group_.timers.uncovered();
    return !(needed && group_.roster.come_back(*this));
}

// Parked for a moment. Needs no barrier: who does not see it in the word is seen when the moment is over. Only a shutdown, which
// is in the same word, wakes all at once, and may have taken this bed for another's.
bool Worker::keep_watch(bool searching) {
    Gate &gate = group_.gate;
    gate.announce(index_, searching);
    counters.parks.add();
    const uint64_t until = std::min(fork_again_, group_.timers.next());
    const bool over = group_.winding_up() || gate.paused() || !gate.sleep_until(index_, until);
    if (over && !gate.cancel(index_)) gate.sleep(index_);  // a token is on its way
    group_.end_watch();
    return false;
}

// Many listed lanes are empty, and this worker is too busy to park: unlist them, so that searching stays cheap.
void Worker::tidy() {
    empties_ = 0;
    owes_look_ = true;
    Directory::Unlisted unlisted;
    group_.directory.unlist_empty(&unlisted);
    if (unlisted.n == 0) return;
    heavy_fence();  // pairs with light_fence in a submit: the listing | the lane
    counters.barriers.add();
    group_.directory.relist(unlisted);
}

}  // namespace hc
