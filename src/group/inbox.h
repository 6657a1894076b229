// The queue of a group whose kind is not stealing: many producers, one lock for them, and a lane behind it.
// HC_KIND_SHARED has one for all workers, HC_KIND_PINNED one for each.
#pragma once
#include "group/outbox.h"
#include "sync/mutex.h"
namespace hc {

struct Inbox {
    explicit Inbox(RingPool &pool) : box(pool) {}
    Mutex producers;  // guards the producer's side of box
    Outbox box;
};

}  // namespace hc
