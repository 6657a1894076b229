// The queues of tasks whose priority is not normal: one for HIGH and one for LOW, of the whole group, whatever its kind. They are made
// at their first use, under the registry's lock, and only while the group is open: who takes that lock after the close knows them all.
//
// Which task is next (find.cpp), for each worker. Tasks of a level are taken one by one, so that none of them ever waits in a batch:
//   LOW that waits   the first of LOW, when this worker has begun kLowWaits others since it saw LOW empty, or took one of it
//   HIGH             before each task, those of a batch that is half run as well; but of kHighInARow + 1 one is another, if there is any
//   the others       timers, batches
//   LOW              when there is nothing else
// So the first of HIGH waits for the task that each worker is in, and the first of LOW for kLowWaits tasks of each, and the rest of a
// batch, between whose tasks nobody looks at LOW.
//
// Between two tasks a worker reads the gate's word, for a pause; Gate::kHigh is there too, and costs it nothing.
// Invariant: HIGH holds a task => kHigh is set, or a producer is inside its lock. Set and cleared under that lock alone: by who has pushed,
// and by who finds it empty.
#pragma once
#include "group/inbox.h"
namespace hc {

class Levels {
  public:
    Levels() = default;
    Levels(const Levels &) = delete;
    ~Levels() {
        each([](Inbox &in) { memory::destroy(&in); });
    }

    // nullptr: nobody has used it yet.
    Inbox *find(Priority p) const { return of(p).load(memory_order_acquire); }  // pairs with the release in make()

    // Under the registry's lock. nullptr: no memory.
    Inbox *make(Priority p, RingPool &rings) {
        auto *in = memory::make<Inbox>(rings, p);
        if (in == nullptr || !in->box.start()) {
            memory::destroy(in);
            return nullptr;
        }
        of(p).store(in, memory_order_release);  // pairs with the acquire in find()
        return in;
    }

    template <class F>
    void each(F &&f) const {
        for (const Priority p : {Priority::kHigh, Priority::kLow})
            if (Inbox *in = find(p)) f(*in);
    }
    uint64_t queued() const {
        uint64_t n = 0;
        each([&](Inbox &in) { n += in.box.queued(); });
        return n;
    }

  private:
    Atomic<Inbox *> &of(Priority p) { return p == Priority::kHigh ? high_ : low_; }
    const Atomic<Inbox *> &of(Priority p) const { return p == Priority::kHigh ? high_ : low_; }
    Atomic<Inbox *> high_{nullptr}, low_{nullptr};
};

}  // namespace hc
