#include "group/worker.h"

#include <algorithm>

#include "group/blocking.h"
#include "group/forks.h"
#include "group/group.h"
#include "group/registry.h"
#include "group/tasks.h"
#include "sync/clock.h"
#include "sync/signal.h"

namespace hc {

constexpr uint64_t kBatchTime = 100'000;  // ns
constexpr uint64_t kTimedTasks = 4;
constexpr uint64_t kForkSpin = 50'000;   // ns: who has run a fork looks for the next so long, whatever the options say
#ifdef HC_SYNC_MODEL
constexpr uint64_t kWorthStealing = 0;
#else
constexpr uint64_t kWorthStealing = 10'000;  // ns: a fork that takes less costs its owner more than it brings
#endif
constexpr uint64_t kShortPause = 4'000, kLongPause = 2'000'000;

bool Worker::start() { return thread_start(&thread_, body, this, group_.options().stack_size); }

void *Worker::body(void *p) {
    auto *self = static_cast<Worker *>(p);
    Group &g = self->group_;
    const GroupOptions &o = g.options();
    thread_name(o.name, self->index_);
    thread_exact_timeouts();
    open_signals();
    if (o.cpu_count != 0) thread_run_on(o.cpus, o.cpu_count, o.kind == Kind::kPinned ? self->index_ : UINT32_MAX);
    do {
        self->live();
        if (g.foreign()) return nullptr;  // the only thread of a forked child: the process ends
    } while (g.worker_gone(*self));
    return nullptr;
}

// From the start hook to the stop hook.
void Worker::live() {
    const GroupOptions &o = group_.options();
    ThreadRecord *record = std::exchange(record_, nullptr);
    record->self = this;
    record->outermost.group = &group_;
    record->outermost.worker = this;
    record->outermost.forks = &forks;
    forks.entered = 1;
    registry::adopt(record);
    idle_since_ = 0;
    record->shows = &seen.label;
    seen.thread.store(thread_id(), memory_order_relaxed);
    if (o.on_thread_start != nullptr) o.on_thread_start(o.user, index_);
    loop();
    seen.thread.store(0, memory_order_relaxed);
    if (group_.foreign()) return;
    if (o.on_thread_stop != nullptr) o.on_thread_stop(o.user, index_);
    if (group_.foreign()) return;
    settle();
    registry::retire();
}

// RUNNING, SEARCHING and PARKED are those of gate.h.
void Worker::loop() {
    Gate &gate = group_.gate;
    uint64_t spin = group_.options().spin_ns;
    bool searching = true, idle = false;
    uint64_t spin_end = 0;
    for (;;) {
        if (group_.foreign()) return;  // a forked child: its queues are the parent's
        settle();
        if (group_.roster.too_many() && lets_go() && group_.roster.step_back()) {
            publish(searching, Next::kRest);
            group_.went_idle();
            if (!group_.roster.rest(*this, group_.bed(index_))) return;
            searching = true;
            idle = false;
        }
        const Found found = find();
        if (found == Found::kBatch) {
            publish(searching);
            searching = idle = false;
            run_batch();
            continue;
        }
        if (found == Found::kFork) {
            publish(searching, Next::kFork);
            searching = idle = false;
            run_stolen();
            spin = std::max<uint64_t>(group_.options().spin_ns, forks_matter() ? kForkSpin : 0);
            continue;
        }
        if (!idle) {
            idle = true;
            group_.went_idle();
            spin_end = spin == 0 ? 0 : after(spin);
        }
        if (gate.has(Gate::kSettled) && nothing_left()) break;
        if (found == Found::kBusy || group_.winding_up()) {
            thread_yield();  // whoever has it may be waiting for this CPU
            continue;
        }
        if (!searching && spin != 0) searching = gate.begin_search(1);
        if (searching && now() < spin_end) {
            cpu_relax();
            continue;
        }
        if (park(searching) && leave()) return;
        searching = true;
        idle = false;
        spin = group_.options().spin_ns;
    }
    if (searching) gate.stop_searching();
}

// Between two batches nothing blocks, whatever was said.
void Worker::settle() {
    blocking_end_to(0);
    if (__builtin_expect(excused_.load(memory_order_relaxed), 0)) take_excuse_back();
}

void Worker::take_excuse_back() {
    if (excused_.exchange(false, memory_order_relaxed)) group_.roster.unblock();
}

// Each of the three only grows.
bool Worker::stands() {
    const uint64_t begun = batch_.begun(), finished = finished_.load(memory_order_relaxed);
    const uint64_t at = begun + finished + counters.steals.read();
    return std::exchange(stood_, at) == at && (begun > finished || seen.forks.load(memory_order_relaxed));
}

bool Worker::excuse() {
    if (declared_.load(memory_order_relaxed) || excused_.load(memory_order_relaxed)) return false;
    if (!thread_sleeps(seen.thread.load(memory_order_relaxed))) return false;
    if (group_.roster.block() == Roster::Block::kNoRoom) {
        group_.roster.unblock();
        return false;
    }
    excused_.store(true, memory_order_relaxed);
    return true;
}

// Who runs a batch on top of a task that waits cannot rest yet, and who ends does not rest.
inline bool Worker::is_too_many() const {
    return __builtin_expect(group_.roster.too_many(), 0) && inside_ == 0 && !group_.closed();
}

bool Worker::run_batch() {
    const uint64_t tasks = batch_.rest(), inserted = inserted_;
    const uint64_t begin = tasks >= kTimedTasks ? now() : 0;
    const bool refuse = group_.gate.has(Gate::kNow);
    const Gate &gate = group_.gate;
    const bool limits = group_.limits();
    const uint32_t blocking = blocking_depth();  // of a task that waits, on top of which these run
    Entry e;
    idle_since_ = 0;
    const bool any = first_of_batch(&e);  // unless thieves were faster
    if (any) {
        seen.since.store(coarse_now(), memory_order_relaxed);
        give_room_back();
        for (;;) {
            if (__builtin_expect(!refuse && !limits, 1)) {
                e.fn(e.arg);
            } else if (!refuse) {
                run_entry(&group_, e);
            } else {
                group_.hand_back(e);
                counters.unrun.add();
            }
            blocking_end_to(blocking);
            interrupted_ = gate.interrupts() || is_too_many();
            if (__builtin_expect(interrupted_, 0)) {
                const Entry next = next_between();
                if (next.fn == nullptr) break;
                e = next;
            } else if (!batch_.take(&e)) {
                break;
            }
        }
    }
    const uint64_t end = batch_.cursor();
    give_room_back();
    finished_.store(end - inside_, memory_order_release);  // pairs with the acquire in finished()
    if (begin != 0) set_pace(tasks + (inserted_ - inserted), now() - begin);
    return any;
}

// Between two tasks: the group is paused, or has one of high priority, or one worker too many. Returns the next; none: fn is nullptr. By
// value, so that the loop of run_batch() keeps its own in registers.
Entry Worker::next_between() {
    Entry next{nullptr, nullptr};
    if (group_.foreign()) return next;  // the task has forked, and this is the child
    interrupted_ = group_.gate.paused() || is_too_many();
    if (interrupted_) return next;
    find_between();
    if (!batch_.take(&next)) return next;
    give_room_back();
    seen.since.store(coarse_now(), memory_order_relaxed);
    return next;
}

bool Worker::first_of_batch(Entry *out) {
    if (line_ == nullptr) return batch_.take(out);
    *out = {run_line, std::exchange(line_, nullptr)};
    return true;
}

bool Worker::block() {
    const Roster::Block room = group_.roster.block();
    declared_.store(true, memory_order_relaxed);
    if (room == Roster::Block::kRoom)
        group_.look_for_more(
            [&] { return batch_.has_rest() || !kept.empty() || work_left(1, true) != 0 || group_.timers.uncovered(); });
    return room != Roster::Block::kNoRoom;
}

void Worker::unblock() {
    declared_.store(false, memory_order_relaxed);
    group_.roster.unblock();
    group_.look_after();
}

// When the first task of a batch begins, and when the last has ended.
void Worker::give_room_back() {
    const uint64_t begun = batch_.begun();
    group_.give_room(begun - room_back_);
    room_back_ = begun;
}

bool Worker::help() {
    if (group_.gate.paused()) return false;
    inside_++;
    const registry::Within in_no_task(this_thread, {.group = &group_, .worker = this, .forks = &forks});
    find_first();
    bool found = run_batch();  // not only if it seems to have a rest: while others take from it, it seems to be empty
    if (!found) {
        const Found what = find();
        found = what == Found::kBatch || what == Found::kFork;
        if (found) publish(false, what == Found::kFork ? Next::kFork : Next::kBatch);
        if (what == Found::kBatch) run_batch();
        if (what == Found::kFork) run_stolen();
    }
    inside_--;
    if (!kept.empty() && !group_.watches_kept() && !group_.foreign()) {  // the task that waits may go on for long
        light_fence();  // pairs with heavy_fence in park(): kept | the word
        group_.after_publish();
    }
    return found;
}

// A thief of short forks does harm: it pays a barrier, and its owner gets the cache lines back from another core. While those
// that it has stolen are short on average, it pauses, twice as long each time. Not if their owner stands still. The average
// forgets quickly, for every tree ends in short ones.
void Worker::run_stolen() {
    const uint64_t begin = now();
    seen.since.store(begin, memory_order_relaxed);
    const bool in_another = seen.forks.load(memory_order_relaxed);  // which waits
    seen.forks.store(true, memory_order_relaxed);
    run_fork(forks, std::exchange(fork_, nullptr));
    seen.forks.store(in_another, memory_order_relaxed);
    const uint64_t end = now();
    idle_watches_ = 0;
    idle_since_ = 0;
    fork_average_ = (3 * fork_average_ + std::min(end - begin, 2 * kWorthStealing)) / 4;
    if (owner_stands_ || fork_average_ >= kWorthStealing)
        fork_pause_ = 0;
    else if (end - begin >= kWorthStealing)
        fork_pause_ /= 4;
    else
        fork_pause_ = std::clamp(2 * fork_pause_, kShortPause, kLongPause);
    fork_again_ = end + fork_pause_;
}

// Tasks behind a long batch wait for it, though they came from elsewhere: batches of long tasks are short. Halving at
// once and doubling step by step forgets a batch that was only preempted. Short batches are not timed, for a clock
// costs as much as several tasks.
void Worker::set_pace(uint64_t tasks, uint64_t took) {
    const uint64_t fit = tasks * kBatchTime / (took + 1);
    pace_ = static_cast<uint32_t>(std::clamp<uint64_t>(fit, kTimedTasks, std::min<uint64_t>(2 * pace_, Batch::kSize)));
}

}  // namespace hc
