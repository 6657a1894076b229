// The model's side of src/sync/atomic.h: the names of the seam, with relacy behind them.
//
// relacy runs the threads of a model as fibers and switches at every atomic operation, lock and futex call. Loads may return
// older values where the orders allow it, Plain data is checked for races, and a thread that waits for nothing is a deadlock.
// What is ours here:
//
//   Atomic, Plain     relacy's, with our signatures: the order without a macro, the place found by default arguments. The end of
//                     a Plain is a write: what is freed too early for somebody's reads is a race
//   light/heavy_fence the asymmetric fence as C++ proposal P1202 words it: a total order of all of them, in which a light one
//                     is ordered with heavy ones only. Weaker than membarrier(2), which needs no light fence to be at the
//                     right place; so what holds here holds there, and with -Dbarrier=fence. litmus.cpp holds it to that.
//   futex             compares with the newest value, blocks, may return for no reason, and orders no memory
//   Mutex             relacy's: try_lock may fail for no reason. Who uses it must know that it was made
#ifndef HC_MODEL_SEAM_H
#define HC_MODEL_SEAM_H
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include <relacy/base.hpp>
#include <relacy/context.hpp>
//
#include <relacy/atomic.hpp>
#include <relacy/atomic_fence.hpp>
#include <relacy/backoff.hpp>
#include <relacy/context_base_impl.hpp>
#include <relacy/dyn_thread.hpp>
#include <relacy/stdlib/condition_variable.hpp>
#include <relacy/stdlib/event.hpp>
#include <relacy/stdlib/mutex.hpp>
#include <relacy/test_suite.hpp>
#include <relacy/var.hpp>
#undef $

namespace hc {

using Order = rl::memory_order;
inline constexpr Order memory_order_relaxed = rl::mo_relaxed;
inline constexpr Order memory_order_acquire = rl::mo_acquire;
inline constexpr Order memory_order_release = rl::mo_release;
inline constexpr Order memory_order_acq_rel = rl::mo_acq_rel;
inline constexpr Order memory_order_seq_cst = rl::mo_seq_cst;

// The caller's place, for relacy's histories, as a default argument.
#define HC_PLACE rl::debug_info_param at = rl::debug_info(__builtin_FUNCTION(), __builtin_FILE(), __builtin_LINE())

inline void atomic_thread_fence(Order order, HC_PLACE) { rl::atomic_thread_fence(order, at); }

template <class T>
class Atomic : private rl::generic_atomic<T, false> {
    using Base = rl::generic_atomic<T, false>;

  public:
    Atomic(T v = T(), HC_PLACE) {
        rl::preemption_disabler together(rl::ctx());
        Base::store(v, rl::mo_relaxed, at);
    }
    T load(Order o, HC_PLACE) const { return Base::load(o, at); }
    void store(T v, Order o, HC_PLACE) { Base::store(v, o, at); }
    T exchange(T v, Order o, HC_PLACE) { return Base::exchange(v, o, at); }
    T fetch_add(T v, Order o, HC_PLACE) { return Base::fetch_add(v, o, at); }
    T fetch_sub(T v, Order o, HC_PLACE) { return Base::fetch_sub(v, o, at); }
    T fetch_and(T v, Order o, HC_PLACE) { return Base::fetch_and(v, o, at); }
    T fetch_or(T v, Order o, HC_PLACE) { return Base::fetch_or(v, o, at); }
    bool compare_exchange_weak(T &seen, T v, Order yes, Order no, HC_PLACE) {
        return compare_exchange(rl::bool_t<true>(), seen, v, yes, no, at);
    }
    bool compare_exchange_strong(T &seen, T v, Order yes, Order no, HC_PLACE) {
        return compare_exchange(rl::bool_t<false>(), seen, v, yes, no, at);
    }
    bool is_lock_free() const { return true; }
    T newest() const { return Base::debug_value(); }  // for the futex, and for assertions: not an access

  private:
    // relacy has no failure order that is stronger than the other: the stronger load is then made separately, at once. It sees
    // what the exchange has seen, for a thread never reads backwards.
    template <bool kWeak>
    bool compare_exchange(rl::bool_t<kWeak> weak, T &seen, T v, Order yes, Order no, rl::debug_info_param at) {
        const bool extra = no == rl::mo_acquire && (yes == rl::mo_relaxed || yes == rl::mo_release);
        rl::context &c = rl::ctx();
        if (!extra) return Base::compare_exchange(weak, seen, v, yes, no, at);
        c.sched();
        rl::preemption_disabler together(c);
        if (Base::compare_exchange(weak, seen, v, yes, rl::mo_relaxed, at)) return true;
        Base::load(rl::mo_acquire, at);
        return false;
    }
};

// relacy writes pointers down as void *.
template <class T>
class Atomic<const T *> {
  public:
    Atomic(const T *v = nullptr, HC_PLACE) : body_(const_cast<T *>(v), at) {}
    const T *load(Order o, HC_PLACE) const { return body_.load(o, at); }
    void store(const T *v, Order o, HC_PLACE) { body_.store(const_cast<T *>(v), o, at); }

  private:
    Atomic<T *> body_;
};

template <class T>
class Plain {
  public:
    Plain() {}
    Plain(T v) : set_(true), v_(v) {}
    Plain(const Plain &o) : set_(true), v_(o.get()) {}
    ~Plain() {
        if (set_) *this = T();
    }
    Plain &operator=(const Plain &o) { return *this = o.get(); }
    Plain &operator=(T v) {
        set_ = true;
        v_(rl::debug_info("Plain", "write")).store(v);
        return *this;
    }
    operator T() const { return get(); }
    T operator->() const { return get(); }
    template <class U>
    explicit operator U *() const  // static_cast<Ticket *>(entry.arg)
        requires std::is_same_v<T, void *>
    {
        return static_cast<U *>(get());
    }

  private:
    T get() const { return v_(rl::debug_info("Plain", "read")).load(); }
    bool set_ = false;
    rl::var<T> v_;
};

namespace model {

// What the model's machine holds besides relacy's own: reset by Model's constructor for each iteration.
struct Machine {
    static constexpr int kThreads = 8;
    rl::timestamp_t before_light[kThreads], before_heavy[kThreads];  // what the fences so far have ordered
    struct {
        rl::thread_id_t thread;
        const void *place;
    } asleep[kThreads];
    int sleepers;
    uint64_t ticks;      // the clock
    int threads_left = Machine::kThreads;  // to be started; then the system has none
    bool no_memory;
    unsigned long life;  // counts iterations
    void (*at_switch)(rl::thread_id_t from, rl::thread_id_t to);  // keeps a thread-local variable; from < 0: none

    // An iteration begins.

    void reset() {
        const unsigned long next = life + 1;
        const auto keep = at_switch;
        *this = Machine{};
        life = next;
        at_switch = keep;
    }

    void sleep(const void *place, rl::thread_id_t thread) { asleep[sleepers++] = {thread, place}; }
    void leave(rl::thread_id_t thread) {
        for (int i = 0; i < sleepers; i++)
            if (asleep[i].thread == thread) return remove(i);
    }
    void remove(int i) {
        for (sleepers--; i < sleepers; i++) asleep[i] = asleep[i + 1];
    }
};
inline Machine machine;

inline void join(rl::timestamp_t *into, const rl::timestamp_t *from) {
    const int n = rl::ctx().get_thread_count();
    for (int i = 0; i < n; i++) into[i] = std::max(into[i], from[i]);
}

constexpr uint64_t kFar = 1 << 20;  // ticks: who sleeps so long and longer is not woken by time

// Blocks on `place`. False: at the deadline.
inline bool block(const void *place, bool timed, bool may_fail, rl::debug_info_param at) {
    rl::context &c = rl::ctx();
    const rl::thread_id_t self = c.current_thread();
    machine.sleep(place, self);
    const auto why = c.park_current_thread(timed, may_fail, false, at);
    if (why != rl::unpark_reason_normal) machine.leave(self);
    return why != rl::unpark_reason_timeout;
}

inline void wake(const void *place, int threads, rl::debug_info_param at) {
    for (int i = 0; i < machine.sleepers && threads > 0;)
        if (machine.asleep[i].place == place) {
            const rl::thread_id_t thread = machine.asleep[i].thread;
            machine.remove(i);
            rl::ctx().unpark_thread(thread, false, at);
            threads--;
        } else {
            i++;
        }
}

}  // namespace model

// One that is constructed outside of any iteration, as a global is, is none: the model constructs it again.
class Mutex {
  public:
    Mutex() {
        if (!rl::is_ctx()) return;
        life_ = model::machine.life;
        new (&body_) Body;
    }
    ~Mutex() {
        if (rl::is_ctx() && life_ == model::machine.life) std::destroy_at(&body_);
    }
    Mutex(const Mutex &) = delete;
    void lock(HC_PLACE) {
        use();
        body_.m.lock(at);
    }
    bool try_lock(HC_PLACE) {
        use();
        return body_.m.try_lock(at);
    }
    void unlock(HC_PLACE) {
        use();
        body_.m.unlock(at);
    }

  private:
    struct Body {
        rl::mutex m;
        Plain<bool> made{true};
    };
    void use() const { static_cast<void>(static_cast<bool>(body_.made)); }

    unsigned long life_ = 0;
    union {
        Body body_;
    };
};

inline void fence_setup() {}

inline bool fences_are_asymmetric() { return true; }
inline void light_fence() {
    rl::timestamp_t *mine = rl::ctx().threadx_->acq_rel_order_;
    model::join(mine, model::machine.before_heavy);
    model::join(model::machine.before_light, mine);
}

inline void heavy_fence() {
    rl::context &c = rl::ctx();
    c.sched();
    rl::preemption_disabler together(c);
    rl::timestamp_t *mine = c.threadx_->acq_rel_order_;
    model::join(mine, model::machine.before_light);
    model::join(mine, model::machine.before_heavy);
    atomic_thread_fence(memory_order_seq_cst);  // the system call is one for its caller
    model::join(model::machine.before_heavy, mine);
}

}  // namespace hc

// Boost's rings run on the same atomics.
#define BOOST_LOCKFREE_DETAIL_ATOMIC_HPP
namespace boost::lockfree {
namespace detail {
using hc::memory_order_acquire;
using hc::memory_order_relaxed;
using hc::memory_order_release;
template <class T>
using atomic = hc::Atomic<T>;
}  // namespace detail
using detail::atomic;
using detail::memory_order_acquire;
using detail::memory_order_relaxed;
using detail::memory_order_release;
}  // namespace boost::lockfree
#include <boost/lockfree/spsc_queue.hpp>
#endif
