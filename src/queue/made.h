// All records that a pool has made and not freed, so that one can walk over them wherever they are: in a queue, in use, or free.
// Who walks holds no lock and may call anything: meanwhile nothing is freed. T has `T *made_before` and `bool goes`.
#pragma once
#include <cstdint>

#include "memory/hooks.h"
#include "sync/mutex.h"
namespace hc {

template <class T>
class Made {
  public:
    T *make() {  // nullptr: no memory
        T *t = memory::make<T>();
        if (t == nullptr) return nullptr;
        Locked l(lock_);
        t->made_before = last_;
        last_ = t;
        return t;
    }

    // visit(T *) -> go on? Otherwise this is the child of a fork. One walker at a time.
    template <class Visit>
    void walk(Visit &&visit) {
        T *t;
        {
            Locked l(lock_);
            walked_ = true;
            t = last_;
        }
        for (; t != nullptr; t = t->made_before)
            if (!visit(t)) return;
        Locked l(lock_);
        walked_ = false;
    }

    // take() -> a list of free ones, linked by `next`, which are destroyed. Returns how many.
    template <class Take, class Next>
    int64_t free(Take &&take, Next T::*next) {
        Locked l(lock_);
        if (walked_) return 0;
        int64_t n = 0;
        for (T *t = take(); t != nullptr; t = t->*next, n++) t->goes = true;
        if (n == 0) return 0;
        T *kept = nullptr;
        for (T *t = last_; t != nullptr;) {
            T *before = t->made_before;
            if (t->goes) {
                memory::destroy(t);
            } else {
                t->made_before = kept;
                kept = t;
            }
            t = before;
        }
        last_ = kept;
        return n;
    }

  private:
    Mutex lock_;
    Plain<T *> last_{nullptr};
    Plain<bool> walked_{false};
};

}  // namespace hc
