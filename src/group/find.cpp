// Where a worker's next batch comes from.
#include <algorithm>
#include <utility>

#include "group/forks.h"
#include "group/group.h"
#include "group/worker.h"
#include "sync/clock.h"

namespace hc {

// See levels.h. A model's are small enough to be met.
#ifdef HC_SYNC_MODEL
constexpr uint32_t kHighInARow = 2;
constexpr uint64_t kLowWaits = 2;
#else
constexpr uint32_t kHighInARow = 128;
constexpr uint64_t kLowWaits = 512;
#endif
constexpr int kTriesBeforeYield = 16;

Worker::Found Worker::find() {
    met_busy_ = false;
    if (group_.gate.paused()) return Found::kNothing;
    if (std::exchange(interrupted_, false)) {
        find_first();
        return Found::kBatch;
    }
    if (find_first()) return Found::kBatch;
    // Timers that are due and queues take turns: a flood of one does not keep the other waiting.
    const bool queues_first = std::exchange(was_due_, false);
    bool found = queues_first ? find_in_queues() || find_due() : find_due();
    if (group_.foreign()) return Found::kNothing;  // a drop has forked, and this is the child
    found = found || (!queues_first && find_in_queues());
    if (found || find_last()) return Found::kBatch;
    if (group_.options().kind == Kind::kStealing && find_in_forks()) return Found::kFork;
    return met_busy_ ? Found::kBusy : Found::kNothing;
}

// LOW that has waited long enough, or HIGH, if it is not the turn of another: the next task of this worker, also ahead of a batch.
bool Worker::find_first() {
    if (low_waits_long() && find_in_level(Priority::kLow)) return true;
    if (!group_.gate.high()) return false;
    if (batch_.cursor() != high_next_) high_in_row_ = 0;
    if (high_in_row_ == kHighInARow || !find_in_level(Priority::kHigh)) return false;
    high_in_row_++;
    high_next_ = batch_.cursor() + 1;
    return true;
}

// There is no other. Before forks: a fork's owner will run it in the end.
bool Worker::find_last() {
    high_in_row_ = 0;
    return find_first() || find_in_level(Priority::kLow);
}

void Worker::high_is_empty(Inbox &in) {
    if (!in.producers.try_lock()) return;
    if (in.box.empty()) group_.gate.lower(Gate::kHigh);
    in.producers.unlock();
}

bool Worker::low_waits_long() {
    const Inbox *low = group_.levels.find(Priority::kLow);
    if (low == nullptr) return false;
    if (low->box.empty()) low_seen_empty_ = batch_.cursor();
    return batch_.cursor() - low_seen_empty_ >= kLowWaits;
}

// Who loses the claim tries again, for the order is strict.
bool Worker::find_in_level(Priority p) {
    Inbox *in = group_.levels.find(p);
    if (in == nullptr) return false;
    for (int tries = 0;; tries++) {
        if (in->box.empty()) {
            if (p == Priority::kHigh) high_is_empty(*in);
            return false;
        }
        if (in->box.try_claim()) break;
        counters.claims_lost.add();
        if (tries < kTriesBeforeYield)
            cpu_relax();
        else
            thread_yield();
    }
    const bool found = batch_.insert([&](Entry *out) { return in->box.pop(out, 1); });
    in->box.release();
    if (!found) return false;
    counters.claims.add();
    inserted_++;
    if (p == Priority::kLow) low_seen_empty_ = batch_.cursor() + 1;
    return true;
}

// Between two tasks of a batch, while HIGH is not empty. Where it is the turn of another, that is the next of the batch, or a timer.
void Worker::find_between() {
    if (group_.gate.has(Gate::kNow) || find_first() || high_in_row_ != kHighInARow) return;
    timers_turn_ = !timers_turn_;
    Timers &timers = group_.timers;
    if (!timers_turn_ || timers.next() == kNever || group_.winding_up()) return;
    const uint64_t at = now();
    if (timers.next() > at) return;
    inserted_ += batch_.insert([&](Entry *out) { return timers.take_due(&group_, out, 1, at); });
    group_.timer_gone();
}

bool Worker::find_in_queues() {
    const bool kept_before = std::exchange(kept_last_, false);
    switch (group_.options().kind) {
        case Kind::kStealing:
            return find_behind_stuck() || (!kept_before && find_kept()) || find_in_lanes() || find_kept() || find_in_workers() ||
                   find_kept_by_others();
        case Kind::kShared: return find_in(group_.inboxes[0].box, 1);  // one at a time: the order is strict
        case Kind::kPinned: return find_in(group_.inboxes[index_].box, group_.most_in_batch);
    }
    return false;
}

bool Worker::find_due() {
    Timers &timers = group_.timers;
    if (!timers.any()) return false;
    if (group_.winding_up()) {
        constexpr int kAtATime = 64;
        for (int i = 0; i < kAtATime && group_.reap_timers(); i++) met_busy_ = true;
        return false;
    }
    const uint64_t next = timers.next();
    if (next == kNever) return false;
    const uint64_t at = now();
    if (next > at) return false;
    due_at_ = at;
    const uint32_t most = group_.options().kind == Kind::kStealing ? std::min(pace_, group_.most_in_batch) : 1;
    was_due_ = batch_.refill([&](Entry *out) { return timers.take_due(&group_, out, most, at); }) != 0;
    group_.timer_gone();
    return was_due_;
}

// The lanes in turn, one batch each: a flooded lane delays the next by one batch. A worker leaves the idle ones their share, as many as
// there are CPUs for; the others need none, for they can steal.
bool Worker::find_in_lanes() {
    const uint64_t word = group_.gate.read();
    const uint64_t idle = Gate::parked(word) + Gate::searching(word);
    const uint64_t sharers = std::clamp<uint64_t>(idle, 1, group_.most_sharers);
    const uint64_t most = std::min(pace_, group_.most_in_batch);
    const bool found = group_.directory.each_listed(&last_lane_, [&](Lane *lane) {
        const uint64_t queued = lane->queued();
        if (queued == 0) {
            empties_++;
            return false;
        }
        return find_in(*lane, static_cast<uint32_t>(std::clamp<uint64_t>(queued / sharers, 1, most)));
    });
    if (empties_ > 1024) tidy();
    return found;
}

bool Worker::find_in(Lane &lane, uint32_t most) {
    if (lane.empty()) return false;
    if (!lane.try_claim()) {
        counters.claims_lost.add();
        met_busy_ = true;
        return false;
    }
    const uint32_t n = batch_.refill([&](Entry *out) { return lane.pop(out, most); });
    lane.release();
    if (n == 0) return false;
    counters.claims.add();
    return true;
}

bool Worker::find_in_workers() {
    const uint32_t n = group_.roster.made();
    for (uint32_t i = 1, at = index_; i < n; i++) {
        if (++at == n) at = 0;
        if (steal_from(group_.roster.at(at))) return true;
    }
    return false;
}

// A worker that never runs out of lanes would never look at the others' batches. So one find in 16 looks at one other
// worker: if it stands where it stood 16 finds ago, with tasks behind it, half of those move here.
bool Worker::find_behind_stuck() {
    if (++finds_ % 16 != 0) return false;
    const Roster &roster = group_.roster;
    Worker &w = roster.at(watched_);
    if (&w != this && w.batch_.cursor() == watched_cursor_ && steal_from(w)) return true;  // and go on watching
    if (&w != this && !w.kept.empty() && w.seems_stuck(now()) && begin_line(w)) return true;
    if (++watched_ == roster.made()) watched_ = 0;
    watched_cursor_ = roster.at(watched_).batch_.cursor();
    return false;
}

// One line, and no more: it is begun at once, so that no thief moves it.
bool Worker::begin_line(Worker &keeper) {
    line_ = keeper.kept.take();
    if (line_ == nullptr) return false;
    batch_.begin({run_line, line_});
    kept_last_ = true;
    return true;
}

bool Worker::find_kept() { return !kept.empty() && begin_line(*this); }

bool Worker::seems_stuck(uint64_t at) {
    const uint64_t cursor = batch_.cursor();
    if (stood_at_.load(memory_order_relaxed) != cursor) {
        stood_at_.store(cursor, memory_order_relaxed);
        stood_since_.store(at, memory_order_relaxed);
        return false;
    }
    const uint64_t since = stood_since_.load(memory_order_relaxed);
    return at > since && at - since >= kStuckAfter;
}

// What others keep is theirs, unless they are held up.
bool Worker::find_kept_by_others() {
    uint64_t at = 0;
    for (uint32_t i = 0; i < group_.roster.made(); i++) {
        Worker &w = group_.roster.at(i);
        if (&w == this || w.kept.empty()) continue;
        if (at == 0) at = now();
        if (w.seems_stuck(at) && begin_line(w)) return true;
    }
    return false;
}

bool Worker::lets_go() {
    while (kept.unput([this](Line *l) { return unkeep(&group_, l); })) {
    }
    return kept.empty();
}

bool Worker::steal_from(Worker &victim) {
    if (!victim.batch_.has_rest()) return false;
    owes_look_ = true;
    const uint32_t n = batch_.refill([&](Entry *out) { return victim.batch_.steal(out); });
    counters.barriers.add();
    (n != 0 ? counters.steals : counters.steals_lost).add();
    met_busy_ = met_busy_ || n == 0;
    return n != 0;
}

// After everything else: a fork's owner will run it in the end, whoever waits in a lane has nobody.
bool Worker::find_in_forks() {
    fork_ = nullptr;
    if (!forks_matter() && now() < fork_again_) return false;
    if (inside_ != 0 && !can_help(forks)) return false;
    for (Deque *d = group_.deques(); d != nullptr && fork_ == nullptr; d = d->next)
        if (d != &forks && d->seems_busy() && ready_to_fork(forks)) fork_ = d->steal(&forks, nullptr, false);
    if (fork_ == nullptr) return false;
    counters.steals.add();
    const Deque *from = fork_->owner;
    const Slot *top = from->top();
    owner_stands_ = from == fork_from_ && top == fork_top_;
    fork_from_ = from;
    fork_top_ = top;
    return true;
}

// Timers do not count: see Timers::uncovered() and Timers::missed().
uint32_t Worker::work_left(uint32_t most, bool with_forks) const {
    const auto up_to = [most](uint64_t n) { return static_cast<uint32_t>(std::min<uint64_t>(n, most)); };
    uint64_t n = group_.levels.queued();
    switch (group_.options().kind) {
        case Kind::kShared: return up_to(n + group_.inboxes[0].box.queued());
        case Kind::kPinned: return up_to(n + group_.inboxes[index_].box.queued());
        case Kind::kStealing: break;
    }
    uint32_t at = 0;
    group_.directory.each_listed(&at, [&](Lane *lane) { return (n += lane->queued()) >= most; });
    for (uint32_t i = 0; n < most && i < group_.roster.made(); i++)
        if (i != index_) n += group_.roster.at(i).batch_.rest();
    for (Deque *d = with_forks ? group_.deques() : nullptr; n < most && d != nullptr; d = d->next) n += d->has_work();
    return up_to(n);
}

bool Worker::nothing_left() {
    if (group_.options().kind == Kind::kPinned)
        return group_.levels.queued() == 0 && group_.inboxes[index_].box.empty() && group_.timers.all_gone();
    if (!group_.queues_empty()) return false;
    // Not even on its way from a lane or a batch into another batch, where it might wait for one behind it.
    return group_.options().kind != Kind::kStealing || group_.gate.has(Gate::kNow) || group_.all_begun();
}

}  // namespace hc
