// A wheel: pending timers, sorted no further than is needed to know which come next. Its user brings lock and clock.
//
// A tick is a number of kDigits digits to the base kSlots. There is a level for each digit. An entry's level is the highest digit
// in which its tick differs from `elapsed_`, its slot there is that digit:
//
//   level 1   . . [x x x x] [x x x x] ...      ticks that differ from elapsed_ in the second digit
//   level 0   . . . x x x x x x x x x          one tick each
//
// So all of level 0 comes before all of level 1, and within a level slot before slot. When something in the first slot is due, that
// slot is taken apart (expire): elapsed_ moves to its begin, its entries differ from that in lower digits only and go down. From
// level 0 they come out, in the order of their ticks, and within a tick in the order in which they came in. A timer moves at most
// once for each level, and only when the first of its slot is due: nobody need wake up for a slot in which nothing is.
//
// Invariant: elapsed_ has not passed the begin of a slot that holds anything, unless it is inside that slot.
//
// A slot is a ring of chunks of entries, of 24 bytes each, so that arming writes to few pages and taking apart reads them in a row.
// slots_ names its last chunk, which alone has room; the next of that is its first, from which entries are taken. Erasing fills the
// hole with the slot's first entry, which may so lose its turn among those of its tick. `first` of the last chunk is a lower bound
// for the slot: erasing and putting off do not raise it. Who comes for nothing sorts the slot, and knows better afterwards.
//
// Without memory for a chunk an insert fails, and what would have to move down stays where it is until it is due.
#pragma once
#include <algorithm>
#include <bit>
#include <utility>

#include "memory/hooks.h"
#include "sync/atomic.h"
#include "timer/pending.h"
namespace hc {

struct Chunk {
    static constexpr unsigned kKinds = 4;
    static constexpr uint32_t kRoom[kKinds] = {2, 6, 20, 41};  // with malloc's header: 80, 176, 512 and 1 024 bytes

    Chunk *next;
    uint64_t first;
    uint16_t slot;
    uint8_t kind;
    uint8_t begin, end;
    // kRoom[kind] entries follow; there is something in [begin, end)

    static size_t bytes(unsigned kind) { return sizeof(Chunk) + kRoom[kind] * sizeof(Pending); }
    Pending &at(uint32_t i) { return reinterpret_cast<Pending *>(this + 1)[i]; }
};

class Wheel {
  public:
#ifdef HC_SYNC_MODEL
    static constexpr unsigned kDigitBits = 2, kDigits = 16;
#else
    static constexpr unsigned kDigitBits = 8, kDigits = 7;
#endif
    static constexpr uint64_t kLastTick = (UINT64_MAX >> kTickBits) - 1;

    explicit Wheel(uint64_t tick) : elapsed_(tick) {}
    ~Wheel() {
        for (Chunk *last : slots_)
            if (last != nullptr) free_list(std::exchange(last->next, nullptr));
        trim();
    }
    Wheel(const Wheel &) = delete;

    uint64_t size() const { return size_; }

    // False: no memory. p.tick <= kLastTick; one that has passed is due at once. `now`: a tick that has certainly begun.
    bool insert(Pending p, uint64_t now) {
        if (size_ == 0) elapsed_ = std::max(elapsed_, now);
        if (!put(p)) return false;
        size_ = size_ + 1;
        first_ = std::min<uint64_t>(first_, p.tick);
        return true;
    }
    bool insert(Timer *t, uint64_t now) { return insert({t->tick, nullptr, t}, now); }

    // Another time for a timer that is in the wheel. False: no memory, and nothing has changed.
    bool move(Timer *t, uint64_t tick) {
        if (tick < t->chunk->at(t->index).tick) {
            Chunk *const chunk = t->chunk;
            const uint8_t index = t->index;
            if (!put({tick, nullptr, t})) return false;
            remove(chunk, index);
            first_ = std::min<uint64_t>(first_, tick);
        }
        t->tick = tick;
        return true;
    }

    void erase(Timer *t) {
        const uint16_t slot = t->chunk->slot;
        remove(std::exchange(t->chunk, nullptr), t->index);
        size_ = size_ - 1;
        if (slots_[slot] == nullptr) find_first();
    }

    // No entry is due before this tick; kNoTick: there is none.
    uint64_t first() const { return first_; }

    // Takes up to `most` entries that are due out, each to out(Pending). After some work it stops in any case: there may be more to do
    // as long as first() <= tick.
    template <class Out>
    uint32_t expire(uint64_t tick, uint32_t most, Out &&out) {
        constexpr uint32_t kLooks = 1024;
        tick = std::max(tick, elapsed_);  // others may have looked at the clock later
        uint32_t n = 0;
        for (uint32_t looks = 0; n < most && looks < kLooks && first() <= tick; find_first()) {
            const uint32_t slot = first_slot();
            elapsed_ = std::max(elapsed_, begin_of(slot));
            for (; slots_[slot] != nullptr && n < most && looks < kLooks; looks++) {
                Chunk *const c = slots_[slot]->next;
                Pending p = c->at(c->begin++);
                if (slot < kSlots && p.due() <= tick) {
                    take(p);
                    out(p);
                    n++;
                } else if (p.tick = p.due(); !put(p)) {
                    c->begin--;
                    n += pick(slot, tick, most - n, out);
                    break;
                }
                if (c->begin == c->end) drop_first(slot);
            }
        }
        if (size_ == 0) elapsed_ = std::max(elapsed_, tick);
        return n;
    }

    // The same with whatever there is.
    template <class Out>
    uint32_t take_any(uint32_t most, Out &&out) {
        uint32_t n = 0;
        for (; n < most && size_ != 0; n++) {
            const uint32_t slot = first_slot();
            Chunk *const c = slots_[slot]->next;
            const Pending p = c->at(c->begin++);
            take(p);
            if (c->begin == c->end) drop_first(slot);
            out(p);
        }
        find_first();
        return n;
    }

    void trim() {
        for (Chunk *&list : free_) free_list(std::exchange(list, nullptr));
    }

  private:
    static constexpr uint32_t kSlots = 1u << kDigitBits, kWords = (kSlots + 63) / 64;

    bool put(Pending p) {
        const uint32_t slot = slot_of(p.tick);
        Chunk *last = slots_[slot];
        if (last == nullptr || last->end == Chunk::kRoom[last->kind]) {
            Chunk *const c = new_chunk(last == nullptr ? 0 : std::min<unsigned>(last->kind + 1, Chunk::kKinds - 1));
            if (c == nullptr) return false;
            c->first = last == nullptr ? kNoTick : last->first;
            c->next = last == nullptr ? c : std::exchange(last->next, c);
            c->slot = static_cast<uint16_t>(slot);
            use(slot);
            slots_[slot] = last = c;
        }
        last->first = std::min(last->first, p.tick);
        place(last, last->end++, p);
        return true;
    }

    uint32_t slot_of(uint64_t tick) const {
        tick = std::max(tick, elapsed_);
        const uint64_t differs = tick ^ elapsed_;
        const unsigned level = differs == 0 ? 0 : static_cast<unsigned>(std::bit_width(differs) - 1) / kDigitBits;
        return level * kSlots + (static_cast<uint32_t>(tick >> level * kDigitBits) & (kSlots - 1));
    }
    void use(uint32_t slot) { used_[slot / kSlots][slot % kSlots / 64] |= uint64_t{1} << slot % kSlots % 64; }
    void unuse(uint32_t slot) { used_[slot / kSlots][slot % kSlots / 64] &= ~(uint64_t{1} << slot % kSlots % 64); }

    static void place(Chunk *c, uint8_t index, const Pending &p) {
        c->at(index) = p;
        if (Timer *t = p.timer()) {
            t->chunk = c;
            t->index = index;
        }
    }

    void take(const Pending &p) {
        if (Timer *t = p.timer()) t->chunk = nullptr;
        size_ = size_ - 1;
    }

    void remove(Chunk *c, uint8_t index) {
        const uint32_t slot = c->slot;
        Chunk *const first = slots_[slot]->next;
        if (c != first || index != first->begin) place(c, index, first->at(first->begin));
        if (++first->begin == first->end) drop_first(slot);
    }

    // The first chunk of the slot is empty.
    void drop_first(uint32_t slot) {
        Chunk *const last = slots_[slot], *const c = last->next;
        last->next = c->next;
        if (c == last) {
            slots_[slot] = nullptr;
            unuse(slot);
        }
        c->next = free_[c->kind];
        free_[c->kind] = c;
    }

    Chunk *new_chunk(unsigned kind) {
        Chunk *c = free_[kind];
        if (c != nullptr) {
            free_[kind] = c->next;
        } else {
            if ((c = static_cast<Chunk *>(memory::allocate(Chunk::bytes(kind), alignof(Chunk)))) == nullptr) return nullptr;
            c->kind = static_cast<uint8_t>(kind);
        }
        c->begin = c->end = 0;
        return c;
    }
    static void free_list(Chunk *list) {
        while (list != nullptr) {
            Chunk *const c = std::exchange(list, list->next);
            memory::release(c, Chunk::bytes(c->kind), alignof(Chunk));
        }
    }

    // The first of each level competes: one that has not been taken apart to the end comes before a lower level.
    uint32_t first_slot() const {
        uint32_t best = 0;
        uint64_t first = kNoTick;
        for (unsigned level = 0; level < kDigits; level++)
            for (uint32_t w = 0; w < kWords; w++)
                if (used_[level][w] != 0) {
                    const uint32_t slot = level * kSlots + w * 64 + static_cast<uint32_t>(std::countr_zero(used_[level][w]));
                    if (slots_[slot]->first <= first) {
                        best = slot;
                        first = slots_[slot]->first;
                    }
                    break;
                }
        return best;
    }
    void find_first() { first_ = size_ == 0 ? kNoTick : slots_[first_slot()]->first; }

    // The first and the last tick of a slot.
    uint64_t begin_of(uint32_t slot) const {
        const unsigned shift = slot / kSlots * kDigitBits;
        const uint64_t below = (uint64_t{1} << shift) - 1, digit = uint64_t{kSlots - 1} << shift;
        return (elapsed_ & ~(digit | below)) | uint64_t{slot % kSlots} << shift;
    }
    uint64_t last_of(uint32_t slot) const { return begin_of(slot) + (uint64_t{1} << slot / kSlots * kDigitBits) - 1; }

    template <class F>
    void each_chunk(uint32_t slot, F &&f) {  // until f returns true
        Chunk *const last = slots_[slot];
        for (Chunk *c = last->next; !f(c) && c != last; c = c->next) {
        }
    }

    // Without memory: what is due, from where it is. What remains then stays, or moves as it is.
    template <class Out>
    uint32_t pick(uint32_t slot, uint64_t tick, uint32_t most, Out &&out) {
        for (uint32_t n = 0;; n++) {
            uint64_t first = kNoTick;
            Chunk *from = nullptr;
            uint8_t index = 0;
            if (slots_[slot] == nullptr) return n;
            each_chunk(slot, [&](Chunk *c) {
                for (uint8_t i = c->begin; i < c->end && from == nullptr; i++) {
                    first = std::min<uint64_t>(first, c->at(i).due());
                    if (c->at(i).due() > tick) continue;
                    from = c;
                    index = i;
                }
                return from != nullptr;
            });
            if (from == nullptr) {
                stay(slot, tick, first);
                return n;
            }
            if (n == most) return n;
            const Pending p = from->at(index);
            take(p);
            remove(from, index);
            out(p);
        }
    }

    // Nothing in the slot is due before `first`. If the slot's time is over, all that is left was put off: the chunks move to the slot
    // of the first, where the others are as if put off from there.
    void stay(uint32_t slot, uint64_t tick, uint64_t first) {
        Chunk *const ours = slots_[slot];
        const uint64_t end = last_of(slot) + 1;
        if (tick < end) {  // every entry at the bound or after it, for a timer may be moved to its entry's tick without a look at the bound
            ours->first = std::min(first, end);
            each_chunk(slot, [&](Chunk *c) {
                for (uint8_t i = c->begin; i < c->end; i++) c->at(i).tick = std::min<uint64_t>(c->at(i).due(), end);
                return false;
            });
            return;
        }
        const uint32_t to = slot_of(first);
        each_chunk(slot, [&](Chunk *c) {
            for (uint8_t i = c->begin; i < c->end; i++) c->at(i).tick = first;
            c->slot = static_cast<uint16_t>(to);
            return false;
        });
        slots_[slot] = nullptr;
        unuse(slot);
        use(to);
        if (Chunk *const last = slots_[to]) {
            std::swap(ours->next, last->next);  // one ring
            last->first = std::min(last->first, first);
        } else {
            ours->first = first;
            slots_[to] = ours;
        }
    }

    Chunk *slots_[kDigits * kSlots] = {};
    uint64_t used_[kDigits][kWords] = {};
    uint64_t elapsed_;
    Plain<uint64_t> first_{kNoTick};  // of all
    Plain<uint64_t> size_{0};
    Chunk *free_[Chunk::kKinds] = {};
};

}  // namespace hc
