// How a worker takes part in the protocol of gate.h.
#include "group/group.h"
#include "group/worker.h"

namespace hc {

// A batch has been filled: before its first task runs, make sure that what else is there has somebody to look at it.
// A worker that goes away from short forks into something else must be replaced; one that runs such a fork will be back.
void Worker::publish(bool was_searching, bool for_fork) {
    if (group_.options().kind == Kind::kPinned) {  // nobody else may run it
        if (was_searching) group_.gate.stop_searching();
        return;
    }
    const auto more = [this, for_fork](uint32_t most) {
        const uint64_t rest = batch_.rest();
        const uint32_t mine = rest > most ? most : rest > 1 ? static_cast<uint32_t>(rest - 1) : 0;
        return mine == most ? most : mine + work_left(most - mine, !for_fork || forks_matter());
    };
    uint32_t woken = 0;
    if (was_searching) {
        woken = group_.gate.found_work([&](uint32_t most) {
            if (group_.divert_forks()) heavy_fence();  // pairs with light_fence in Deque::push(): the limit | the fork
            return more(most);
        });
    } else if (batch_.rest() > 1 || (owes_look_ && more(1) != 0)) {
        light_fence();  // pairs with heavy_fence in park(): the batch | the word
        woken = group_.gate.after_publish();
    }
    owes_look_ = false;
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

// Returns SEARCHING.
void Worker::park(bool searching) {
    Gate &gate = group_.gate;
    const bool stealing = group_.options().kind == Kind::kStealing;
    if (stealing && watch_forks()) return keep_watch(searching);
    Directory::Unlisted unlisted;
    if (stealing) group_.directory.unlist_empty(&unlisted);
    gate.announce(index_, searching);
    if (stealing && forks_matter()) group_.divert_forks();
    heavy_fence();  // pairs with light_fence in a submit and in publish(): the word, the listing and the limit | the queues
    counters.barriers.add();
    bool found = stealing && group_.directory.relist(unlisted);
    found = found || work_left(1, forks_matter()) != 0 || gate.closed();
    if (found && gate.cancel(index_)) return;
    counters.parks.add();
    gate.sleep(index_);
}

// Parked for a moment. Needs no barrier: who does not see it in the word is seen when the moment is over. Only a shutdown, which
// is in the same word, wakes all at once, and may have taken this bed for another's.
void Worker::keep_watch(bool searching) {
    Gate &gate = group_.gate;
    gate.announce(index_, searching);
    counters.parks.add();
    const bool over = gate.closed() || !gate.sleep_until(index_, fork_again_);
    if (over && !gate.cancel(index_)) gate.sleep(index_);  // a token is on its way
    group_.end_watch();
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
