// Records that one thread takes and any thread gives back, so that a steady stream of them allocates nothing.
//
//   free_      list of the taker
//   returned_  stack of the givers; emptied as a whole, by the taker or by trim(): no ABA, for nothing is popped singly
#pragma once
#include <utility>

#include "queue/made.h"
#include "sync/atomic.h"
namespace hc {

template <class T>
class Recycler {  // T has T *next_free, and what Made wants
  public:
    Recycler() = default;
    ~Recycler() {
        drop(free_);
        drop(returned_.load(memory_order_relaxed));
    }
    Recycler(const Recycler &) = delete;
    Recycler &operator=(const Recycler &) = delete;

    T *take() {  // nullptr: no memory
        if (free_ == nullptr)
            free_ = returned_.exchange(nullptr, memory_order_acquire);  // pairs with the release in give()
        if (free_ == nullptr) return made.make();
        return std::exchange(free_, free_->next_free);
    }

    void give(T *t) {
        T *top = returned_.load(memory_order_relaxed);
        do t->next_free = top;
        while (!returned_.compare_exchange_weak(top, t,
                                                memory_order_release,  // pairs with the acquires in take() and trim()
                                                memory_order_relaxed));
    }

    void trim() {
        made.free([this] { return returned_.exchange(nullptr, memory_order_acquire); }, &T::next_free);  // pairs with give()
    }

    Made<T> made;

  private:
    static void drop(T *list) {
        while (list != nullptr) memory::destroy(std::exchange(list, list->next_free));
    }

    T *free_ = nullptr;
    Atomic<T *> returned_{nullptr};
};

}  // namespace hc
