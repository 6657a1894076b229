// A lane: the unbounded FIFO from one producer thread to one consumer at a time, wait-free for the producer.
//
// It is a chain of rings (ring.h). The producer fills the newest and, when that is full, links one twice as large. The
// consumer empties the oldest and, when that is empty and has a successor, retires it to the pool.
//
//   field             written by                         read by
//   tail_             producer                           producer
//   pushed_           producer                           anyone
//   head_, popped_    holder of the claim                holder; popped_ by anyone
//   claim_            CAS kFree<->kClaimed               anyone
//   final_            holder of the claim, once          holder; producer after Gate::kSettled
//   Ring::next        producer, once for each life       holder of the claim
//
// The producer's role is a thread's, and moves to another through the registry's lock. The consumer's role moves with
// the claim: acquired by try_claim, released by release.
//
// Invariant: an entry exists for others once it is counted. The producer counts (release) after it has pushed and
// linked; a consumer reads the count (acquire) and pops no more than that. So popped_ never passes pushed_, and a ring
// in which a consumer finds nothing while the count says that there is something is complete: its successor is linked
// and visible.
// Hazard: a thread without the claim must not look into a ring, which may be retired under its eyes. It compares pushed_
// with popped_ instead, both in the lane itself, which lives as long as the group.
//
// Closing (group/closing.cpp) makes a lane's count final, under the claim: no entry beyond it will ever be popped. A producer
// that pushed at that very moment, and was not counted, takes back what it pushed: uncount_late().
#pragma once
#include <algorithm>

#include "queue/listing.h"
#include "queue/ring.h"
namespace hc {

class Lane {
  public:
    explicit Lane(RingPool &pool) : pool_(pool) {}
    ~Lane() {
        for (Ring *r = head_; r != nullptr;) {
            Ring *next = r->next.load(memory_order_relaxed);
            memory::destroy(r);
            r = next;
        }
    }
    bool start() {  // before first use; false: no memory
        head_ = tail_ = pool_.take(0);
        return tail_ != nullptr;
    }

    // ---- the producer ----
    bool push(Entry e) {  // false: no memory
        if (__builtin_expect(!tail_->slots.push(e), 0) && !grow(&e, 1)) return false;
        pushed(1);
        return true;
    }

    size_t push(const Entry *e, size_t n) {  // how many; fewer than n: no memory
        size_t done = 0;
        for (;;) {
            done += tail_->slots.push(e + done, n - done);
            if (done == n) break;
            const size_t more = grow(e + done, n - done);
            if (more == 0) break;
            done += more;
        }
        if (done != 0) pushed(done);
        return done;
    }

    // After a push met a closed gate, and the gate is settled: how many of its entries came too late, and are out again.
    size_t uncount_late() {
        const uint64_t pushed = pushed_.load(memory_order_relaxed), final = final_;
        if (pushed <= final) return 0;
        pushed_.store(final, memory_order_relaxed);
        return pushed - final;
    }

    // ---- the consumer ----
    bool try_claim() {
        uint32_t free = kFree;
        return claim_.load(memory_order_relaxed) == kFree &&
               // acquire: pairs with the release in release(), for head_ and popped_
               claim_.compare_exchange_strong(free, kClaimed, memory_order_acquire, memory_order_relaxed);
    }
    void release() { claim_.store(kFree, memory_order_release); }  // pairs with the acquire in try_claim

    size_t pop(Entry *out, size_t most) {
        const uint64_t taken = popped_.load(memory_order_relaxed);
        const uint64_t there =
            std::min<uint64_t>(pushed_.load(memory_order_acquire), final_) - taken;  // pairs with the release in pushed()
        if (there == 0) return 0;
        if (most > there) most = there;
        size_t n;
        while ((n = head_->slots.pop(out, most)) == 0)
            pool_.give(std::exchange(head_, head_->next.load(memory_order_relaxed)));
        popped_.store(taken + n, memory_order_relaxed);
        return n;
    }

    void close() {  // by the holder of the claim
        if (final_ == kOpen) final_ = pushed_.load(memory_order_relaxed);
    }

    // ---- anyone ----
    // Never misses an entry whose push happened before this call. May still count what is being popped.
    uint64_t queued() const {
        const uint64_t out = popped_.load(memory_order_relaxed);
        const uint64_t in = pushed_.load(memory_order_relaxed);
        return in > out ? in - out : 0;
    }
    bool empty() const { return queued() == 0; }
    uint64_t pushed_total() const { return pushed_.load(memory_order_relaxed); }

  private:
    static constexpr uint32_t kFree = 0, kClaimed = 1;
    static constexpr uint64_t kOpen = UINT64_MAX;

    void pushed(size_t n) {
        // release: who sees the count finds the entries; pairs with the acquire in pop()
        pushed_.store(pushed_.load(memory_order_relaxed) + n, memory_order_release);
    }

    __attribute__((noinline)) size_t grow(const Entry *e,
                                          size_t n) {  // how many of n went into the new ring; 0: no memory
        const uint32_t size_class = tail_->size_class + 1;
        Ring *r = pool_.take(size_class < Ring::kClasses ? size_class : Ring::kClasses - 1);
        if (r == nullptr) return 0;
        const size_t done = r->slots.push(e, n);
        tail_->next.store(r, memory_order_relaxed);  // published by the count
        tail_ = r;
        return done;
    }

    // The producer's line.
    alignas(64) Ring *tail_ = nullptr;
    Atomic<uint64_t> pushed_{0};
    RingPool &pool_;

  public:
    Listing listing;  // constant once the directory has the lane

  private:
    // The consumers' line.
    alignas(64) Atomic<uint32_t> claim_{kFree};
    Plain<Ring *> head_{nullptr};
    Atomic<uint64_t> popped_{0};
    Plain<uint64_t> final_{kOpen};
};

}  // namespace hc
