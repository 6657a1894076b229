// Who wakes up for the next timer: a leader, a deputy, and followers. One parked worker sits in the first seat, and sleeps until that timer is due; another sits in the
// second, and sleeps a little longer (kPatience). The others sleep without an end.
//
// When a timer is due the first one leaves its seat and runs it. Nobody is woken to take the seat over: if the body is short, the worker
// is soon back; if it blocks, the second one comes. Only when that does not suffice is somebody woken (Worker::publish()).
//
// The rule: a timer is pending => its time is covered by a seat, or a worker is searching and will look before it runs anything,
// or a wake is in flight, or nobody is parked.
//
// Hazard: a timer is armed, and becomes its shard's first, while a worker sits down or gets up.
//   who arms:   Shard::next; fence; covers()? Not: wake.                                       Timers::armed()
//   worker:     sit down; announce; fence; Shard::next earlier than that? Do not sleep.        Worker::park()
//   worker:     get up; ...; before it runs anything: fence; Shard::next covered? Not: wake.   Worker::publish()
// The fences are full ones on both sides: one of them sees the other. A timer that does not become its shard's first is covered by
// that first one.
//
// A worker that would wake up more often than every kRest on average rests that long instead, after a burst.
#pragma once
#include <algorithm>
#include <cstdint>

#include "sync/atomic.h"
namespace hc {

class Watch {
  public:
#ifdef HC_SYNC_MODEL
    static constexpr uint64_t kPatience = 0, kRest = 1, kBurst = 1, kNap = 0;
#else
    static constexpr uint64_t kPatience = 1'000'000, kRest = 100'000, kBurst = 32 * kRest, kNap = 200'000;
#endif
    static constexpr uint32_t kNobody = UINT32_MAX;
    struct Turn {
        unsigned seat = 2;  // 0, 1; 2: none
        uint64_t covers = UINT64_MAX, until = UINT64_MAX;
        bool nap = false;  // so short that it needs no process-wide barrier: what it misses waits no longer than that
    };

    bool covers(uint64_t when) const {
        return covered_[0].load(memory_order_relaxed) <= when || covered_[1].load(memory_order_relaxed) <= when;
    }
    uint32_t sitting(unsigned seat) const { return sitting_[seat].load(memory_order_relaxed); }
    bool has_room() const { return sitting(0) == kNobody || sitting(1) == kNobody; }

    // A worker that is about to park, `next` being the time of the next timer.
    Turn sit_down(uint32_t worker, uint64_t next, uint64_t now) {
        Turn turn;
        for (turn.seat = 0; turn.seat < 2; turn.seat++) {
            uint32_t nobody = kNobody;
            // acquire: pairs with the release in get_up(), for credit_
            if (sitting(turn.seat) == kNobody &&
                sitting_[turn.seat].compare_exchange_strong(nobody, worker, memory_order_acquire, memory_order_relaxed))
                break;
        }
        if (turn.seat == 2) return turn;
        turn.covers = next;
        turn.until = next;
        if (turn.seat == 1) {
            turn.until = next > UINT64_MAX - kPatience ? UINT64_MAX : next + kPatience;
        } else {
            if (now > last_) credit_ = std::min<uint64_t>(kBurst, credit_ + (now - last_));
            last_ = std::max<uint64_t>(last_, now);
            if (credit_ < kRest && next < now + kRest) {
                turn.covers = 0;  // whatever comes meanwhile: it waits no longer than that
                turn.until = now + kRest;
            }
        }
        turn.nap = turn.until < now + kNap;
        covered_[turn.seat].store(turn.covers, memory_order_relaxed);
        return turn;
    }

    void get_up(const Turn &turn, bool timed_out) {
        if (turn.seat == 2) return;
        if (turn.seat == 0 && timed_out) credit_ = credit_ - std::min<uint64_t>(credit_, kRest);
        covered_[turn.seat].store(UINT64_MAX, memory_order_relaxed);
        sitting_[turn.seat].store(kNobody, memory_order_release);  // pairs with the acquire in sit_down()
    }

  private:
    Atomic<uint64_t> covered_[2] = {UINT64_MAX, UINT64_MAX};  // every time from this one on
    Atomic<uint32_t> sitting_[2] = {kNobody, kNobody};
    Plain<uint64_t> credit_{kBurst}, last_{0};  // of the first seat
};

}  // namespace hc
