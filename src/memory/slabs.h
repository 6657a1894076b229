// Records of one kind, many to an allocation, so that those of a burst lie side by side and go together. The user brings the lock.
//
// T has `uint8_t place`, ours, and `void *arg`, which links free ones.
//
// A slab has a list of its records that were given back. Taken from are `free_`, which was the whole list of some slab, then that of
// the first of `some_`, then that of an empty slab. So who takes touches no slab but once for a list of it.
//
//   some_    a ring: first the slabs whose lists have records, then those whose lists have none
//   empty_   those all of whose records are in their lists
#pragma once
#include <cstdint>

#include "memory/hooks.h"
namespace hc {

template <class T>
class Slabs {
  public:
#ifdef HC_SYNC_MODEL
    static constexpr unsigned kRoom = 2;
#else
    static constexpr unsigned kRoom = (4064 - (alignof(T) > 64 ? alignof(T) : 64)) / sizeof(T);
#endif
    static_assert(kRoom < 256);
    struct Ring {
        Ring *next = this, *before = this;
        void link(Ring *behind) {
            before = behind;
            next = behind->next;
            next->before = before->next = this;
        }
        void unlink() {
            next->before = before;
            before->next = next;
        }
    };
    struct alignas(T) Head : Ring {
        T *list = nullptr;
        uint32_t listed = 0;
    };
    struct Slab : Head {
        T at[kRoom];
    };

    Slabs() = default;
    ~Slabs() {
        while (some_.next != &some_) {
            Ring *s = some_.next;
            s->unlink();
            memory::destroy(static_cast<Slab *>(s));
        }
        drop_empty(0);
    }
    Slabs(const Slabs &) = delete;

    T *take() {  // nullptr: add() a slab first
        if (free_ == nullptr && !refill()) return nullptr;
        T *t = free_;
        free_ = next_of(t);
        return t;
    }
    T *take_or_make() {  // nullptr: no memory
        if (T *t = take()) return t;
        Slab *more = make();
        if (more == nullptr) return nullptr;
        add(more);
        return take();
    }
    void give(T *t) {
        Slab *s = slab_of(t);
        t->arg = s->list;
        s->list = t;
        if (++s->listed == 1 || s->listed == kRoom) sort(s);
    }
    // After giving, where a burst is not expected to come again: no more empty ones than others.
    void ease() {
        if (empties_ > others_) drop_empty(others_ / 2);
    }

    static Slab *make() { return memory::make<Slab>(); }  // without the lock; nullptr: no memory
    void add(Slab *s) {
        for (unsigned i = kRoom; i-- > 0;) {
            s->at[i].place = static_cast<uint8_t>(i);
            s->at[i].arg = s->list;
            s->list = &s->at[i];
        }
        s->listed = kRoom;
        push_empty(s);
    }

    // All slabs of which nothing is in use.
    void trim() {
        while (free_ != nullptr) give(take());
        drop_empty(0);
    }

  private:
    static T *next_of(T *t) { return static_cast<T *>(static_cast<void *>(t->arg)); }
    static Slab *slab_of(T *t) { return static_cast<Slab *>(reinterpret_cast<Head *>(t - t->place) - 1); }

    bool refill() {
        auto *s = static_cast<Slab *>(some_.next);
        if (&some_ == some_.next || s->list == nullptr) {
            if ((s = empty_) == nullptr) return false;
            empty_ = static_cast<Slab *>(s->next);
            empties_--;
            others_++;
        } else {
            s->unlink();
        }
        s->link(some_.before);
        free_ = std::exchange(s->list, nullptr);
        s->listed = 0;
        return true;
    }
    // After the first that was given back, or the last.
    void sort(Slab *s) {
        s->unlink();
        if (s->listed != kRoom) return s->link(&some_);
        others_--;
        push_empty(s);
    }
    void push_empty(Slab *s) {
        s->next = empty_;
        empty_ = s;
        empties_++;
    }
    void drop_empty(uint64_t down_to) {
        for (; empties_ > down_to; empties_--) {
            Slab *s = empty_;
            empty_ = static_cast<Slab *>(s->next);
            memory::destroy(s);
        }
    }

    T *free_ = nullptr;
    Ring some_;
    Slab *empty_ = nullptr;
    uint64_t empties_ = 0, others_ = 0;
};

}  // namespace hc
