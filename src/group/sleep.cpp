// How a worker takes part in the protocol of gate.h.
#include "group/group.h"
#include "group/worker.h"

namespace hc {

// A batch has been filled: before its first task runs, make sure that what else is there has somebody to look at it.
void Worker::publish(bool was_searching) {
    if (group_.options().kind == Kind::kPinned) {  // nobody else may run it
        if (was_searching) group_.gate.stop_searching();
        return;
    }
    const auto more = [this] { return batch_.rest() > 1 || work_left(); };
    bool woke = false;
    if (was_searching)
        woke = group_.gate.found_work(more);
    else if (batch_.rest() > 1 || (owes_look_ && more())) {
        light_fence();  // pairs with heavy_fence in park(): the batch | the word
        woke = group_.gate.after_publish();
    }
    owes_look_ = false;
    if (woke) counters.wakes.add();
}

// Returns SEARCHING.
void Worker::park(bool searching) {
    Gate &gate = group_.gate;
    Directory::Unlisted unlisted;
    const bool stealing = group_.options().kind == Kind::kStealing;
    if (stealing) group_.directory.unlist_empty(&unlisted);
    gate.announce(index_, searching);
    heavy_fence();  // pairs with light_fence in a submit and in publish(): the word and the listing | the queues
    counters.barriers.add();
    bool found = stealing && group_.directory.relist(unlisted);
    found = found || work_left() || gate.closed();
    if (found && gate.cancel(index_)) return;
    counters.parks.add();
    gate.sleep(index_);
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
