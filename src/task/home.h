// Where the records of held tasks come from and go back to: one for each outbox. Taken by the outbox's producer, given back by
// anyone, also when the group is gone: handles outlive it.
//
// The group's end closes a home: the list of what came back gets a mark instead of records, and `out_` the number of records that
// are still out, which those then count down. Who brings it to 0 frees the home.
// Hazard: records come back before out_ has been raised. It is below 0 then, and the closer's raise brings it to 0 if they were all.
//
// pin() makes a group live a little longer, for a handle knows nothing of the group's own references.
// Hazard: the group ends meanwhile. Pinner: pins_ + 1; fence; group_ ?     Closer: group_ = nullptr; fence; pins_ == 0 ?
#pragma once
#include "queue/made.h"
#include "sync/thread.h"
#include "task/task.h"
namespace hc {

class Group;

class Home {
  public:
    Home(Group *g, uint32_t fork_generation) : generation(fork_generation), group_(g) {}
    ~Home() { drop(returned_.load(memory_order_relaxed)); }
    Home(const Home &) = delete;

    const uint32_t generation;  // of processes, see registry.h
    Mutex lock;                 // of the listeners and inputs of its tasks

    Task *take() {  // the producer; nullptr: no memory
        if (free_ == nullptr) free_ = returned_.exchange(nullptr, memory_order_acquire);  // pairs with give()
        Task *t = free_;
        if (t == nullptr) {
            if ((t = made.make()) == nullptr) return nullptr;
            made_ = made_ + 1;
        } else {
            free_ = t->next;
        }
        t->home = this;
        return t;
    }

    void give(Task *t) {  // anyone; the home may be gone afterwards
        Task *top = returned_.load(memory_order_relaxed);
        do {
            if (top == closed()) {
                returned_.load(memory_order_acquire);  // pairs with close(): who has walked over it is gone
                memory::destroy(t);
                if (out_.fetch_sub(1, memory_order_acq_rel) == 1) memory::destroy(this);  // pairs with itself
                return;
            }
            t->next = top;
        } while (!returned_.compare_exchange_weak(top, t, memory_order_release,  // pairs with take(), trim(), close()
                                                  memory_order_relaxed));
    }

    void trim() {  // the group's user
        const auto take = [this] {
            Task *some = returned_.load(memory_order_relaxed);
            // acquire: pairs with give()
            while (some != closed() &&
                   !returned_.compare_exchange_weak(some, nullptr, memory_order_acquire, memory_order_relaxed)) {
            }
            return some == closed() ? nullptr : some;
        };
        trimmed_.fetch_add(made.free(take, &Task::next), memory_order_relaxed);
    }

    Made<Task> made;

    // The group's end. The home may be gone afterwards.
    void close() {
        group_.store(nullptr, memory_order_relaxed);
        atomic_thread_fence(memory_order_seq_cst);  // pairs with the fence in pin()
        while (pins_.load(memory_order_acquire) != 0) thread_yield();  // pairs with the release in pin()
        const int64_t back = drop(free_) + drop(returned_.exchange(closed(), memory_order_acq_rel));  // pairs with give()
        free_ = nullptr;
        const int64_t out = made_ - back - trimmed_.load(memory_order_relaxed);
        if (out_.fetch_add(out, memory_order_acq_rel) + out == 0) memory::destroy(this);  // pairs with itself
    }

    // The group, with a reference; nullptr: it has ended, or is about to.
    template <class TryRef>
    Group *pin(TryRef &&try_ref) {
        pins_.fetch_add(1, memory_order_relaxed);
        atomic_thread_fence(memory_order_seq_cst);  // pairs with the fence in close()
        Group *g = group_.load(memory_order_relaxed);
        if (g != nullptr && !try_ref(g)) g = nullptr;
        pins_.fetch_sub(1, memory_order_release);  // pairs with the acquire in close()
        return g;
    }
    // For who knows that it lives: it runs one of its tasks.
    Group *group() const { return group_.load(memory_order_relaxed); }

  private:
    static Task *closed() { return reinterpret_cast<Task *>(1); }
    static int64_t drop(Task *list) {
        int64_t n = 0;
        for (; list != nullptr && list != closed(); n++) memory::destroy(std::exchange(list, list->next));
        return n;
    }

    Atomic<Group *> group_;
    Atomic<uint32_t> pins_{0};
    Task *free_ = nullptr;
    Plain<int64_t> made_{0};  // the producer's
    Atomic<int64_t> trimmed_{0};
    Atomic<Task *> returned_{nullptr};
    Atomic<int64_t> out_{0};
};

}  // namespace hc
