// A lane: the unbounded FIFO from one producer thread to one consumer at a time, wait-free for the producer.
//
// It is a chain of rings (ring.h). The producer fills the newest and, when that is full, links one twice as large. The
// consumer empties the oldest and, when that is empty and has a successor, retires it to the pool.
//
//   field             written by                         read by
//   tail_             producer                           producer
//   pushed_           producer                           anyone
//   head_, popped_    holder of the claim                holder; popped_ by anyone
//   claim_            CAS kFree<->kClaimed, kSealed      anyone
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
// Sealing ends a lane's life (group/closing.cpp): the claim is taken for good once the lane was found empty under it. A
// producer that pushed at the very moment finds the seal, and takes back what it pushed; retract() below.
#pragma once
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

    // After the producer's push met a closed gate: how many of its last entries were in a sealed lane, and are out
    // again. All that is there is of that one push, for the lane was sealed empty, and later pushes do not begin.
    size_t retract() {
        uint32_t sealed = kSealed;
        atomic_thread_fence(memory_order_seq_cst);  // pairs with the fence in seal(): push | look for the seal
        // acquire: pairs with the release in seal()
        if (!claim_.compare_exchange_strong(sealed, kClaimed, memory_order_acquire, memory_order_relaxed)) return 0;
        size_t out = 0;
        Entry back[16];
        while (const size_t n = pop(back, 16)) out += n;
        claim_.store(kSealed, memory_order_release);  // pairs with the acquires in try_claim, retract
        return out;
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
        const uint64_t there = pushed_.load(memory_order_acquire) - taken;  // pairs with the release in pushed()
        if (there == 0) return 0;
        if (most > there) most = there;
        size_t n;
        while ((n = head_->slots.pop(out, most)) == 0)
            pool_.give(std::exchange(head_, head_->next.load(memory_order_relaxed)));
        popped_.store(taken + n, memory_order_relaxed);
        return n;
    }

    // The claim's holder has found it empty: nothing will be popped any more, unless a late push undoes the seal.
    bool seal() {
        claim_.store(kSealed, memory_order_release);  // pairs with the acquire in retract()
        atomic_thread_fence(memory_order_seq_cst);    // pairs with the fence in retract(): seal | look for a push
        if (empty()) return true;
        uint32_t sealed = kSealed;
        // Still sealed: the claim is ours again, the late entry was accepted. Otherwise its producer takes it back.
        // acquire: pairs with the release in retract()
        return !claim_.compare_exchange_strong(sealed, kClaimed, memory_order_acquire, memory_order_relaxed);
    }

    // ---- anyone ----
    // Never misses an entry whose push happened before this call. May still count what is being popped.
    uint64_t queued() const {
        const uint64_t out = popped_.load(memory_order_relaxed);
        const uint64_t in = pushed_.load(memory_order_relaxed);
        return in > out ? in - out : 0;
    }
    bool empty() const { return queued() == 0; }
    bool sealed() const { return claim_.load(memory_order_relaxed) == kSealed; }
    uint64_t pushed_total() const { return pushed_.load(memory_order_relaxed); }

  private:
    static constexpr uint32_t kFree = 0, kClaimed = 1, kSealed = 2;

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
};

}  // namespace hc
