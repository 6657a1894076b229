// Who works in a group, and how many may.
//
// A thread of the group is ACTIVE (RUNNING, SEARCHING or PARKED, see gate.h), in RESERVE (asleep in a list here, and nobody that the
// gate knows of), or gone. A place, in the gate's word, is room for one that is active.
//
//   a place ──bring()──> ACTIVE         one in reserve, or a new thread, or one that is leaving and turns back
//   ACTIVE ──leave()──> LEAVING ──bury()──> gone      idle for keep_alive, and more than `least` are active
//   ACTIVE ──step_back()──> RESERVE     more are active than may be: one that was blocked has come back, or `most` was lowered
//   RESERVE ──keep_alive──> LEAVING
//
// Invariant, at rest: active + places - surplus == most + min(blocked, spares). A blocked one is active, and makes room for another.
// Hazard A: places and a surplus at once, when one blocks while another comes back. Who steps back takes a place instead, if there
// is one, and looks again under lock_, where bring() gives back a place that it could not fill: nobody rests while there is room.
// Hazard B: all slots are taken, some by threads that are leaving, which may take its time (on_thread_stop). bring() leaves word,
// wanted_, and one of them turns back.
//
//   field                                   written                          read
//   slots_[i], made_                        under lock_, once                anyone, below made()
//   active_, least_, most_                  under lock_                      anyone, as a hint
//   surplus_, blocked_                      anyone, by read-modify-write     anyone
//   reserve_, closing_, retry_at_, last_,   under lock_                      under lock_
//   leaving_, wanted_, Worker::hired, leaves, call, next_in_reserve
//   threads_                                +1 under lock_; -1 by the thread's last act; kOpen by the shutdown
#pragma once
#include <algorithm>
#include <cstdint>

#include "group/gate.h"
#include "group/worker.h"
#include "sync/mutex.h"
namespace hc {

class Roster {
  public:
    ~Roster();
    bool start(uint32_t least, uint32_t most, uint32_t spares, uint64_t keep_alive, Gate *gate);  // false: no memory

    bool prepare(Group &g);  // what the least number of workers need, but for their threads. False: no memory

    uint32_t slots() const { return slot_count_; }
    uint32_t made() const { return made_.load(memory_order_acquire); }  // pairs with the release in make()
    Worker &at(uint32_t i) const { return *slots_[i].load(memory_order_relaxed); }                 // i < made()
    uint32_t most() const { return most_.load(memory_order_relaxed); }
    uint32_t threads() const { return threads_.load(memory_order_relaxed) & ~kOpen; }
    uint32_t blocked() const { return std::min(blocked_.load(memory_order_relaxed), spares_); }  // that have made room for another
    uint64_t keep_alive() const { return keep_alive_; }
    bool may_leave(uint32_t index) const {
        const uint32_t least = least_.load(memory_order_relaxed);
        return index >= least && active_.load(memory_order_relaxed) > least;
    }

    // A place was taken, its worker counted as searching. False: nobody can be had, and the place is free again.
    bool bring(Group &g);
    // ---- the worker ----
    // SEARCHING -> gone, unless it is needed. Then heavy_fence() and a last look; return_to() if that finds something.
    bool leave(Worker &w);
    bool come_back(Worker &w);  // false: another has come, or the group has ended
    bool too_many() const { return surplus_.load(memory_order_relaxed) != 0; }
    // It is one too many; then rest(). True: no more.
    bool step_back() {
        return too_many() && less_surplus(1) != 0 && gate_->take_places(1) == 0;
    }
    bool rest(Worker &w, Parker &bed);  // true: needed again, and SEARCHING
    bool bury(Worker &w);               // its thread's last act but for gone(). True: it is needed, and SEARCHING
    bool gone() { return less_threads(1); }  // true: the last of a group that is shut down
    bool ended() const { return threads_.load(memory_order_relaxed) == 0; }

    // ---- blocking ----
    enum class Block { kNoRoom, kRoom, kInTurn };  // kNoRoom: the cap is reached; kInTurn: one that is too many has the room
    Block block();                                 // one more may be active, up to the cap
    void unblock();                                // after any block()

    void resize(uint32_t least, uint32_t most);
    bool too_few() const { return active_.load(memory_order_relaxed) < least_.load(memory_order_relaxed); }
    void close(Group &g);      // nobody rests or leaves any more
    bool turns_back();         // one that was leaving will come
    bool let_end() { return less_threads(kOpen); }  // true: there is no thread left
    void join();               // after ended(): its last thread
    void detach();             // the same, for who may be that thread

  private:
    static constexpr uint32_t kOpen = 1u << 31;  // in threads_: the group has not been shut down, and does not end
    bool less_threads(uint32_t n) { return threads_.fetch_sub(n, memory_order_acq_rel) == n; }  // acq_rel: pairs with itself
    Worker *make(Group &g, uint32_t i);
    Worker *free_slot(Group &g);
    bool hire(Group &g);
    bool sleep_in_reserve(Worker &w, Parker &bed, uint64_t deadline);
    void arrived();
    void count_active(int n);
    uint32_t add_places(uint32_t n) {  // how many are new
        if ((n -= less_surplus(n)) != 0) gate_->add_places(n);
        return n;
    }
    uint32_t less_surplus(uint32_t most);

    Gate *gate_ = nullptr;
    Atomic<Worker *> *slots_ = nullptr;
    uint32_t slot_count_ = 0, spares_ = 0;
    uint64_t keep_alive_ = 0;
    Atomic<uint32_t> made_{0};
    Atomic<uint32_t> active_{0}, least_{0}, most_{0};
    Atomic<uint32_t> surplus_{0}, blocked_{0};
    Atomic<uint32_t> threads_{kOpen};
    Mutex lock_;
    Plain<Worker *> reserve_{nullptr};
    Plain<uint32_t> leaving_{0}, wanted_{0};  // threads on their way out; and how many of them are to turn back
    Plain<bool> closing_{false};
    Plain<uint64_t> retry_at_{0};  // a thread could not be had: not again before
    Plain<bool> has_last_{false};
    Plain<Thread> last_{Thread{}};  // the last that left: joined by the next
};

}  // namespace hc
