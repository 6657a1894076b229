// The forks of one thread: its owner pushes and takes back at one end without a fence, thieves take the oldest.
//
//   begin ........ tail ............. split ................ top
//     taken          anybody's, by lock      the owner's
//
//   field                 written by                                          read by
//   top                   owner                                               anyone
//   limit                 owner: notice(); divert(): anyone                   owner
//   split                 holder of lock_                                     owner, and holder
//   tail_, levels         holder of lock_                                     holder; tail_, below_ by anyone, as a hint
//   Slot::frame           owner, at or above top                              holder, below split
//
// The owner takes back slot s by a store and a load:   top = s;  light_fence();  s >= split ?         take()
// A thief, under lock_, makes the older half anybody's: split = want; heavy_fence();  top >= want ?   expose()
//
// Invariant: slot s is the owner's alone if and only if the split that it reads after lowering top to s is at most s.
// Hazard: both take slot s. The fences forbid that the owner misses split == want AND the thief misses top == s. If the thief
// sees top == s, it lowers split to s before it unlocks. If the owner sees s < split, it asks under the lock, where split is
// final: settle().
//
// A barrier costs an owner that runs more than some forks. So a thief first asks for its half, and takes the limit away; the owner
// answers in its next push, by raising split itself. asked_, under lock_ but for the owner's two steps:
//   kNone ──thief: ask()──> kAsked ──owner: answer()──> kAnswering ──> kAnswered      kAsked ──thief, after a while──> kNone
//
// An owner may run other things while it waits in a join: their forks are a level of their own, on top of the ones below, which
// it does not touch meanwhile and which are anybody's. The mark of a level is what its owner runs there, a stolen frame or a
// task: whoever waits for that may take from this level and from those above it, and finds only what that has forked. Full
// chunks of slots are levels too.
//
// limit is the bell. Who wants to know about the next push sets it to nullptr, divert(), and looks after a heavy_fence.
#pragma once
#include "memory/hooks.h"
#include "queue/frame.h"
#include "sync/fence.h"
#include "sync/mutex.h"
#include "sync/parker.h"
#include "sync/thread.h"
namespace hc {

class Group;

class Deque {
  public:
    Prefix prefix;  // first, for the inline code

    struct Level {
        Plain<Slot *> begin{nullptr};
        Plain<Slot *> tail{nullptr}, end{nullptr};  // while it is not the uppermost: [tail, end) is anybody's
        Plain<Slot *> split{nullptr};               // while it is
        Plain<const void *> mark{nullptr};
        Plain<Task *> task{nullptr};  // the held one that runs there
        Plain<Level *> below{nullptr};
    };

    explicit Deque(Group *of) : group(of) {
        for (Slot &s : over_) s.deque = this;
    }
    Deque(const Deque &) = delete;
    ~Deque() {
        for (Chunk *c = first_; c != nullptr;) memory::destroy(std::exchange(c, c->next));
    }

    // ---- the owner ----
    // Before the first push. False: no memory; forks then run at once.
    bool start() {
        if (chunk_ != nullptr) return true;
        if ((chunk_ = first_ = make_chunk()) == nullptr) return false;
        root_.begin = chunk_->slots;
        tail_.store(root_.begin, memory_order_relaxed);
        prefix.top.store(root_.begin, memory_order_relaxed);
        set_split(root_.begin);
        return true;
    }
    bool started() const { return chunk_ != nullptr; }
    Slot *top() const { return prefix.top.load(memory_order_relaxed); }
    Slot *place() { return overflows_ != 0 ? over_ + 1 : top(); }

    // False: call notice().
    bool push(Slot *s, Frame *f, Frame::Fn fn, void *arg) {
        f->fn = fn;
        f->arg = arg;
        s->frame = f;
        prefix.top.store(s + 1, memory_order_release);  // pairs with the acquire in expose()
        light_fence();                                  // pairs with the heavy_fence after divert(): top | limit
        return s + 1 < prefix.limit.load(memory_order_relaxed);
    }
    // After a push that was not quick, before anything else.
    void answer() {
        uint32_t seen = kAsked;
        if (asked_.load(memory_order_relaxed) != kAsked ||
            !asked_.compare_exchange_strong(seen, kAnswering, memory_order_relaxed, memory_order_relaxed))
            return;
        Slot *const split = prefix.split.load(memory_order_relaxed);
        prefix.split.store(split + (top() - split + 1) / 2, memory_order_relaxed);
        asked_.store(kAnswered, memory_order_release);  // pairs with the acquires in ask(): the frames, and split
    }
    // After a push: room for the next one. nullptr: no memory; the caller takes the frame back, and runs it in overflow().
    Slot *make_room() {
        Slot *const s = top();
        return s == chunk_->last() ? next_chunk() : s;
    }
    // Pushes are quick again; whoever wants to know of the next one diverts again.
    // Not without membarrier(2): the inline push has no fence.
    void rearm() {
        if (fences_are_asymmetric()) prefix.limit.store(chunk_->last(), memory_order_relaxed);
    }

    // True: slot s is the owner's again, and free. False: call settle().
    bool take(Slot *s) {
        prefix.top.store(s, memory_order_relaxed);
        light_fence();  // pairs with heavy_fence in expose(): top | split
        return s >= prefix.split.load(memory_order_relaxed);
    }
    // The same, finally. *s is the slot, should it be in an older chunk.
    enum class Settled { kMine, kTaken, kRan };
    Settled settle(Slot **s) {
        Locked l(lock_);
        if (*s == over_) {
            *s = leave_overflow();
            return Settled::kRan;
        }
        if (level_ == &chunk_->level && *s == level_->begin - 1) *s = leave_chunk();
        Slot *const at = *s, *const tail = tail_.load(memory_order_relaxed);
        if (at >= level_->split) return Settled::kMine;
        if (at >= tail) {  // nobody took it: half of what is left comes back with it
            set_split(tail + (at - tail) / 2);
            return Settled::kMine;
        }
        tail_.store(at, memory_order_relaxed);
        set_split(at);
        return Settled::kTaken;
    }

    // There is no memory for more slots: forks run at once, until the joins are back here. Returns where they hang meanwhile.
    bool overflowed() const { return overflows_ != 0; }
    Slot *overflow() {
        Locked l(lock_);
        if (overflows_++ == 0) {
            over_top_ = top();
            level_->split = over_top_;  // all is anybody's: nobody needs to know top, which is none
            prefix.split.store(reinterpret_cast<Slot *>(UINTPTR_MAX), memory_order_relaxed);
            divert();
        }
        return over_ + 1;
    }

    // Around the run of whatever others may wait for.
    void begin(Level *l, const void *mark, Task *task) {
        Locked locked(lock_);
        l->mark = mark;
        l->task = task;
        raise(l, top());
    }
    // The same for what began before there was a deque.
    void mark(const void *mark, Task *task) {
        Locked locked(lock_);
        level_->mark = mark;
        level_->task = task;
    }
    void end() {
        Locked locked(lock_);
        lower();
    }

    // ---- a thief ----
    // The oldest frame; with a mark, the oldest of what was forked under it. nullptr: none, or (unless `patient`) another
    // thief is at it.
    Frame *steal(Deque *thief, const void *mark, bool patient) {
        if (patient)
            lock_.lock();
        else if (!lock_.try_lock())
            return nullptr;
        Frame *f = oldest(mark);
        if (f != nullptr) {
            f->owner = this;
            f->thief = thief;
            f->state.store(Frame::kTaken, memory_order_relaxed);  // the owner learns of it under the lock
        }
        lock_.unlock();
        return f;
    }

    // ---- anyone ----
    // A guess, and the truth.
    bool seems_busy() const {
        return below_.load(memory_order_relaxed) != 0 ||
               prefix.top.load(memory_order_relaxed) > tail_.load(memory_order_relaxed);
    }
    bool has_work() {
        Locked l(lock_);
        return below_.load(memory_order_relaxed) != 0 || has_own_work();
    }
    void divert() { prefix.limit.store(nullptr, memory_order_relaxed); }

    // Who sleeps until this deque's owner forks again, or until one of its own frames is done.
    struct Watch {
        Parker *bed;
        Plain<Watch *> next{nullptr};
    };
    void watch(Watch *w) {
        Locked l(lock_);
        w->next = watches_;
        watches_ = w;
        watched_.store(true, memory_order_relaxed);
    }
    void unwatch(Watch *w) {
        Locked l(lock_);
        for (Plain<Watch *> *at = &watches_; *at != nullptr; at = &(*at)->next)
            if (*at == w) {
                *at = w->next;
                break;
            }
        watched_.store(watches_ != nullptr, memory_order_relaxed);
    }
    bool watched() const { return watched_.load(memory_order_relaxed); }
    void wake_watches() {
        Locked l(lock_);
        for (Watch *w = watches_; w != nullptr; w = w->next) w->bed->unpark();
    }

    Group *const group;
    Parker bed;  // the owner's, in a join
    uint32_t entered = 0;    // the owner's: how often, see fork_enter();
    Deque *outer = nullptr;  // and where it forked before
    Deque *next = nullptr;  // in the group's list, constant

  private:
#ifdef HC_SYNC_MODEL
    static constexpr uint32_t kSlots = 3;
    static constexpr int kPatience = 2;
#else
    static constexpr uint32_t kSlots = 1024;
    static constexpr int kPatience = 50;  // some microseconds
#endif
    struct Chunk {
        Slot guard;  // a take of what lies in the chunk before ends here, below split
        Slot slots[kSlots];
        Chunk *before = nullptr, *next = nullptr;
        Level level;
        Slot *last() { return slots + kSlots - 1; }
    };
#ifndef HC_SYNC_MODEL
    static_assert(offsetof(Chunk, slots) == sizeof(Slot));
#endif

    Chunk *make_chunk() {
        auto *c = memory::make<Chunk>();
        if (c == nullptr) return nullptr;
        c->guard.deque = this;
        for (Slot &s : c->slots) s.deque = this;
        return c;
    }
    Slot *next_chunk() {
        if (chunk_->next == nullptr) {
            if ((chunk_->next = make_chunk()) == nullptr) return nullptr;
            chunk_->next->before = chunk_;
        }
        Locked l(lock_);
        chunk_ = chunk_->next;
        chunk_->level.task = level_->task;
        raise(&chunk_->level, chunk_->slots);
        prefix.top.store(chunk_->slots, memory_order_relaxed);
        return chunk_->slots;
    }
    Slot *leave_chunk() {
        chunk_ = chunk_->before;
        lower();
        divert();  // the limit is another now: the next push sees to it
        Slot *const s = level_->end - 1;
        prefix.top.store(s, memory_order_relaxed);
        return s;
    }

    // Under lock_, by the owner.
    Slot *leave_overflow() {
        if (--overflows_ != 0) return over_ + 1;
        prefix.top.store(over_top_, memory_order_relaxed);
        set_split(over_top_);
        return over_top_;
    }
    void raise(Level *l, Slot *begin) {
        level_->tail = tail_.load(memory_order_relaxed);
        level_->end = top();
        below_.store(below_.load(memory_order_relaxed) + static_cast<uint64_t>(level_->end - level_->tail),
                     memory_order_relaxed);
        l->begin = begin;
        l->below = level_;
        level_ = l;
        tail_.store(begin, memory_order_relaxed);
        set_split(begin);
    }
    void lower() {
        level_ = level_->below;
        below_.store(below_.load(memory_order_relaxed) - static_cast<uint64_t>(level_->end - level_->tail),
                     memory_order_relaxed);
        tail_.store(level_->tail, memory_order_relaxed);
        prefix.top.store(level_->end, memory_order_relaxed);
        set_split(level_->end);
    }

    // Without membarrier(2) every take asks under the lock.
    void set_split(Slot *s) {
        level_->split = s;
        prefix.split.store(fences_are_asymmetric() ? s : reinterpret_cast<Slot *>(UINTPTR_MAX), memory_order_relaxed);
    }

    // Under lock_, by a thief.
    Frame *oldest(const void *mark) {
        Level *found = nullptr;
        bool marked = mark == nullptr;
        for (Level *l = level_; l != nullptr; l = l->below) {
            if (l == level_ ? has_own_work() : l->tail < l->end) found = l;
            if (mark != nullptr && l->mark == mark) {
                marked = true;
                break;
            }
        }
        if (found == nullptr || !marked) return nullptr;
        Slot *s;
        if (found != level_) {
            below_.store(below_.load(memory_order_relaxed) - 1, memory_order_relaxed);
            s = found->tail;
            found->tail = s + 1;
        } else {
            s = tail_.load(memory_order_relaxed);
            if (s == level_->split && !expose()) return nullptr;
            tail_.store(s + 1, memory_order_relaxed);
        }
        Frame *f = s->frame;
        f->task = found->task;
        return f;
    }
    bool has_own_work() const {
        return tail_.load(memory_order_relaxed) < level_->split || (overflows_ == 0 && top() > level_->split);
    }
    bool expose() {
        if (overflows_ != 0) return false;
        Slot *const split = level_->split;
        Slot *want = split + (top() - split + 1) / 2;
        if (want <= split) return false;
        if (fences_are_asymmetric() && ask()) {
            level_->split = prefix.split.load(memory_order_relaxed);
            return level_->split > split;
        }
        if (fences_are_asymmetric()) {
            prefix.split.store(want, memory_order_relaxed);
            heavy_fence();  // pairs with light_fence in take(): split | top
        }
        Slot *const now = prefix.top.load(memory_order_acquire);  // pairs with the release in push()
        if (now < want) want = now > split ? now : split;
        set_split(want);
        return want > split;
    }

    bool ask() {
        asked_.store(kAsked, memory_order_relaxed);
        divert();
        for (int tries = 0; tries < kPatience; tries++) {
            if (asked_.load(memory_order_acquire) == kAnswered) return true;  // pairs with answer()
            cpu_relax();
        }
        uint32_t seen = kAsked;
        if (asked_.compare_exchange_strong(seen, kNone, memory_order_relaxed, memory_order_relaxed)) return false;
        while (asked_.load(memory_order_acquire) != kAnswered) cpu_relax();  // pairs with answer()
        return true;
    }

    static constexpr uint32_t kNone = 0, kAsked = 1, kAnswering = 2, kAnswered = 3;
    Atomic<uint32_t> asked_{kNone};
    Atomic<Slot *> tail_{nullptr};
    Atomic<uint64_t> below_{0};  // how much is anybody's in the levels below the uppermost
    Atomic<bool> watched_{false};
    Mutex lock_;
    Level root_;
    Plain<Level *> level_{&root_};
    Plain<Watch *> watches_{nullptr};
    Chunk *chunk_ = nullptr, *first_ = nullptr;  // the owner's
    Slot over_[3];
    uint32_t overflows_ = 0;  // the owner's, under lock_
    Slot *over_top_ = nullptr;
};

}  // namespace hc
