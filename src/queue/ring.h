// The body of a lane is a chain of Boost's wait-free single-producer single-consumer rings. Of Boost's ring we use push
// and pop(array, n) only. The chain's link is ours; see lane.h for who may touch it.
#pragma once
#include <boost/lockfree/spsc_queue.hpp>
#include <cstdint>

#include "memory/hooks.h"
#include "queue/entry.h"
#include "sync/mutex.h"
namespace hc {

struct Ring {
    explicit Ring(uint32_t ring_class) : slots(capacity(ring_class)), size_class(ring_class) {}

    // Class 0 is what an idle submitter costs, the last one what a flooded lane grows by.
#ifdef HC_SYNC_MODEL
    static constexpr uint32_t kSmallest = 1, kClasses = 2;
#else
    static constexpr uint32_t kSmallest = 128, kClasses = 6;
#endif
    static constexpr uint32_t capacity(uint32_t ring_class) { return kSmallest << ring_class; }

    boost::lockfree::spsc_queue<Entry, boost::lockfree::allocator<memory::Allocator<Entry>>> slots;
    Atomic<Ring *> next{nullptr};
    Ring *pooled = nullptr;  // link in RingPool, under its lock
    const uint32_t size_class;
};

// Emptied rings of one group, reused last in first out: the next ring that a producer takes is the one still in the
// cache.
class RingPool {
  public:
    RingPool() = default;
    ~RingPool() { trim(); }

    Ring *take(uint32_t ring_class) {  // nullptr: no memory
        {
            Locked l(lock_);
            // Any ring rather than new memory, so that a second burst of the same size needs none: the lanes do not end the
            // first one with the rings that they began it with.
            for (uint32_t c = ring_class; c < Ring::kClasses; c++)
                if (Ring *r = pop(c)) return r;
            for (uint32_t c = ring_class; c-- > 0;)
                if (Ring *r = pop(c)) return r;
        }
        return memory::make<Ring>(ring_class);
    }

    void give(Ring *r) {  // empty, and out of every lane
        Locked l(lock_);
        r->pooled = free_[r->size_class];
        free_[r->size_class] = r;
    }

    void trim() {
        for (Ring *&list : free_) {
            Ring *all;
            {
                Locked l(lock_);
                all = list;
                list = nullptr;
            }
            while (all != nullptr) memory::destroy(std::exchange(all, all->pooled));
        }
    }

  private:
    Ring *pop(uint32_t c) {  // under lock_
        Ring *r = free_[c];
        if (r == nullptr) return nullptr;
        free_[c] = r->pooled;
        r->next.store(nullptr, memory_order_relaxed);
        return r;
    }

    Mutex lock_;
    Ring *free_[Ring::kClasses] = {};
};

}  // namespace hc
