// Records of one kind, many to an allocation, so that those of a burst lie side by side and go together. The user brings the lock.
//
// T has `uint8_t place`, ours, and `void *arg`, which links free ones.
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
    static constexpr unsigned kRoom = (4064 - (alignof(T) > 16 ? alignof(T) : 16)) / sizeof(T);
#endif
    static_assert(kRoom < 256);
    struct Slab;
    struct alignas(T) Head {
        Slab *next = nullptr;
        uint32_t unused = 0;  // while it is trimmed
    };
    struct Slab : Head {
        T at[kRoom];
    };

    Slabs() = default;
    ~Slabs() { drop(slabs_); }
    Slabs(const Slabs &) = delete;

    T *take() {  // nullptr: add() a slab first
        T *t = free_;
        if (t == nullptr) return nullptr;
        free_ = static_cast<T *>(t->arg);
        used_++;
        return t;
    }
    void give(T *t) {
        t->arg = free_;
        free_ = t;
        used_--;
    }

    static Slab *make() { return memory::make<Slab>(); }  // without the lock; nullptr: no memory
    void add(Slab *s) {
        s->next = slabs_;
        slabs_ = s;
        made_++;
        ease_below_ = made_ > kKept ? made_ * kRoom / 8 : 0;
        for (unsigned i = kRoom; i-- > 0;) {
            s->at[i].place = static_cast<uint8_t>(i);
            s->at[i].arg = free_;
            free_ = &s->at[i];
        }
    }

    // Slabs of which nothing is in use.
    void trim() {
        if (used_ == 0) {
            free_ = nullptr;
            made_ = 0;
            return drop(std::exchange(slabs_, nullptr));
        }
        for (T *t = free_; t != nullptr; t = static_cast<T *>(t->arg)) slab_of(t)->unused++;
        T *kept = nullptr;
        for (T *t = free_, *next; t != nullptr; t = next) {
            next = static_cast<T *>(t->arg);
            if (slab_of(t)->unused != kRoom) {
                t->arg = kept;
                kept = t;
            }
        }
        free_ = kept;
        for (Slab **at = &slabs_; *at != nullptr;)
            if (std::exchange((*at)->unused, 0) == kRoom) {
                memory::destroy(std::exchange(*at, (*at)->next));
                made_--;
            } else {
                at = &(*at)->next;
            }
    }

    // After giving: the same, when most of what a burst took is unused. If what is left of it keeps many slabs, not again before half of
    // that is gone too.
    void ease() {
        if (used_ >= ease_below_) return;
        trim();
        ease_below_ = used_ / 2;
    }

  private:
    static constexpr uint64_t kKept = 4;  // slabs
    static Head *slab_of(T *t) { return reinterpret_cast<Head *>(t - t->place) - 1; }
    static void drop(Slab *s) {
        while (s != nullptr) memory::destroy(std::exchange(s, s->next));
    }

    T *free_ = nullptr;
    Slab *slabs_ = nullptr;
    uint64_t used_ = 0, made_ = 0;
    uint64_t ease_below_ = 0;
};

}  // namespace hc
