#include "group/roster.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "group/group.h"
#include "sync/clock.h"

namespace hc {

constexpr uint64_t kRetry = 100'000'000;  // ns

Roster::~Roster() {
    for (uint32_t i = 0; i < made_.load(memory_order_relaxed); i++) memory::destroy(slots_[i].load(memory_order_relaxed));
    for (uint32_t i = 0; i < slot_count_; i++) std::destroy_at(slots_ + i);
    memory::destroy_array(slots_, slot_count_);
}

bool Roster::start(uint32_t least, uint32_t most, uint32_t spares, uint64_t keep_alive, Gate *gate) {
    gate_ = gate;
    spares_ = spares;
    keep_alive_ = keep_alive;
    least_.store(least, memory_order_relaxed);
    most_.store(most, memory_order_relaxed);
    if ((slots_ = memory::make_array<Atomic<Worker *>>(most + spares)) == nullptr) return false;
    slot_count_ = most + spares;
    gate_->raise(Gate::kEmpty);
    gate_->add_places(most);
    return true;
}

bool Roster::prepare(Group &g) {
    for (uint32_t i = 0; i < least_.load(memory_order_relaxed); i++) {
        Worker *w = make(g, i);
        if (w == nullptr || !w->prepare()) return false;
    }
    return true;
}

// Under lock_, or before anybody else knows the group.
Worker *Roster::make(Group &g, uint32_t i) {
    auto *w = memory::make<Worker>(g, i);
    if (w == nullptr) return nullptr;
    slots_[i].store(w, memory_order_relaxed);
    made_.store(i + 1, memory_order_release);  // pairs with the acquire in made()
    return w;
}

// The lowest one: what walks over all workers walks over few.
Worker *Roster::free_slot(Group &g) {
    const uint32_t n = made_.load(memory_order_relaxed);
    for (uint32_t i = 0; i < n; i++)
        if (!at(i).hired) return &at(i);
    return n < slot_count_ ? make(g, n) : nullptr;
}

bool Roster::hire(Group &g) {
    if (retry_at_ != 0 && now() < retry_at_) return false;
    Worker *w = free_slot(g);
    if (w == nullptr) return false;
    uint32_t n = threads_.load(memory_order_relaxed);
    do
        if (n == 0) return false;  // the group has ended
    while (!threads_.compare_exchange_weak(n, n + 1, memory_order_relaxed, memory_order_relaxed));
    w->hired = true;  // before the thread starts, which may end before start() has returned
    if (w->prepare() && w->start()) return true;
    w->hired = false;
    threads_.fetch_sub(1, memory_order_relaxed);
    retry_at_ = after(kRetry);
    return false;
}

// Counted before it moves: who comes, finds nothing to do, and may not leave, sleeps without an end.
bool Roster::bring(Group &g) {
    Locked l(lock_);
    count_active(1);
    Worker *w = reserve_;
    if (w != nullptr) {
        reserve_ = w->next_in_reserve;
        w->call = Worker::Call::kCome;
        g.bed(w->index()).unpark();
    } else if (!hire(g)) {
        count_active(-1);
        if (wanted_ == leaving_) {
            gate_->did_not_come();
            g.more_room();
            return false;
        }
        wanted_ = wanted_ + 1;
        return true;
    }
    gate_->lower(Gate::kEmpty);
    return true;
}

// Under lock_.
void Roster::count_active(int n) {
    active_.store(active_.load(memory_order_relaxed) + static_cast<uint32_t>(n), memory_order_relaxed);
}
void Roster::arrived() {
    count_active(1);
    gate_->lower(Gate::kEmpty);
}

bool Roster::leave(Worker &w) {
    Locked l(lock_);
    const uint32_t active = active_.load(memory_order_relaxed);
    if (closing_ || active <= least_.load(memory_order_relaxed)) return false;
    active_.store(active - 1, memory_order_relaxed);
    w.leaves = true;
    leaving_ = leaving_ + 1;
    if (active == 1) gate_->raise(Gate::kEmpty);
    gate_->leave();
    return true;
}

bool Roster::come_back(Worker &w) {
    Locked l(lock_);
    if (wanted_ != 0)
        wanted_ = wanted_ - 1;
    else if (!gate_->come())
        return false;
    w.leaves = false;
    leaving_ = leaving_ - 1;
    arrived();
    return true;
}

bool Roster::rest(Worker &w, Parker &bed) {
    const uint64_t deadline = after(keep_alive_);
    {
        Locked l(lock_);
        if (gate_->come()) return true;
        const uint32_t active = active_.load(memory_order_relaxed);
        // The last one of a group that ends stays: who was to come in its place may find the group ended.
        if (closing_ && active == 1) return gate_->begin_search(UINT32_MAX);
        active_.store(active - 1, memory_order_relaxed);
        if (closing_) return false;
        w.call = Worker::Call::kNone;
        w.next_in_reserve = std::exchange(reserve_, &w);
        w.seen.rests.store(true, memory_order_relaxed);
    }
    const bool comes = sleep_in_reserve(w, bed, deadline);
    w.seen.rests.store(false, memory_order_relaxed);
    return comes;
}

bool Roster::sleep_in_reserve(Worker &w, Parker &bed, uint64_t deadline) {
    for (;;) {
        const Woken woken = bed.park_until(deadline);
        Locked l(lock_);
        if (w.call != Worker::Call::kNone) {
            if (woken != Woken::kMaybe) bed.park();  // called at the last moment: the token must not be left for the gate
            return w.call == Worker::Call::kCome;
        }
        if (woken != Woken::kTimedOut) continue;
        Plain<Worker *> *at = &reserve_;
        while (*at != &w) at = &static_cast<Worker *>(*at)->next_in_reserve;
        *at = static_cast<Worker *>(w.next_in_reserve);
        w.leaves = true;
        leaving_ = leaving_ + 1;
        return false;
    }
}

bool Roster::bury(Worker &w) {
    bool has, owed = false;
    Thread last;
    {
        Locked l(lock_);
        if (std::exchange(w.leaves, false)) {
            leaving_ = leaving_ - 1;
            if (wanted_ != 0) {
                wanted_ = wanted_ - 1;
                if (w.prepare()) {
                    arrived();
                    return true;
                }
                gate_->did_not_come();
                w.group().more_room();
                owed = true;
            }
        }
        w.hired = false;
        has = std::exchange(has_last_, true);
        last = std::exchange(last_, w.thread());
    }
    if (has) thread_join(last);  // it is at its last instructions
    if (owed) w.group().stuck.owe(&w.group());
    return false;
}

uint32_t Roster::less_surplus(uint32_t most) {
    uint32_t s = surplus_.load(memory_order_relaxed), n;
    do
        if ((n = std::min(most, s)) == 0) return 0;
    while (!surplus_.compare_exchange_weak(s, s - n, memory_order_relaxed, memory_order_relaxed));
    return n;
}

Roster::Block Roster::block() {
    if (blocked_.fetch_add(1, memory_order_relaxed) >= spares_) return Block::kNoRoom;
    return add_places(1) != 0 ? Block::kRoom : Block::kInTurn;
}

// While more are blocked than there are spares, the room of this one is another's.
void Roster::unblock() {
    if (blocked_.fetch_sub(1, memory_order_relaxed) > spares_) return;
    if (gate_->take_places(1) == 0) surplus_.fetch_add(1, memory_order_relaxed);
}

void Roster::resize(uint32_t least, uint32_t most) {
    Locked l(lock_);
    const uint32_t before = most_.load(memory_order_relaxed);
    least_.store(least, memory_order_relaxed);
    most_.store(most, memory_order_relaxed);
    if (most >= before)
        add_places(most - before);
    else if (const uint32_t rest = before - most - gate_->take_places(before - most))
        surplus_.fetch_add(rest, memory_order_relaxed);
    retry_at_ = 0;
}

void Roster::close(Group &g) {
    Locked l(lock_);
    closing_ = true;
    for (Worker *w = std::exchange(reserve_, nullptr); w != nullptr;) {
        Worker *next = w->next_in_reserve;  // before it ends
        w->call = Worker::Call::kGo;
        g.bed(w->index()).unpark();
        w = next;
    }
}

bool Roster::turns_back() {
    Locked l(lock_);
    return wanted_ != 0;
}

void Roster::join() {
    bool has;
    Thread last;
    {
        Locked l(lock_);
        has = std::exchange(has_last_, false);
        last = last_;
    }
    if (has) thread_join(last);
}

void Roster::detach() {
    if (has_last_) thread_detach(last_);
}

}  // namespace hc
