// A queue with many producers, one lock for them, and a lane behind it. HC_KIND_SHARED has one for all workers, HC_KIND_PINNED one for
// each; and any group has one for each priority but the normal one (levels.h).
#pragma once
#include "group/outbox.h"
#include "sync/mutex.h"
namespace hc {

struct Inbox {
    explicit Inbox(RingPool &pool, Priority priority = Priority::kNormal) : level(priority), box(pool) {}
    const Priority level;
    Mutex producers;  // guards the producer's side of box
    Outbox box;
};

}  // namespace hc
