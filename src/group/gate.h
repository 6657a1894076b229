// The gate: the one word that every submit reads, and the protocol by which workers fall asleep and are woken.
//
//   word_:  bits 0-15 parked workers | bits 16-31 searching workers | bits 32-47 flags (kClosed, ...) | bits 48-63 places
//
// A worker is RUNNING (has a batch), SEARCHING (counted; has none and looks for one) or PARKED (counted; asleep, or
// about to look a last time). A wake turns one PARKED worker into a SEARCHING one in the word before it touches the
// thread, so that submitters have at most one wake in flight at a time (searchers four), and others see a searcher meanwhile.
// A place is room for one worker more (roster.h): where nobody is parked, a wake turns a place into a SEARCHING worker in the
// word, and then lets one come. Below, "parked" means parked or a place, "wakes" means wakes or lets come.
//
//   submitter:  publish a task; light_fence(); read word_: nobody parked? done.
//               Otherwise fence (full), read again: nobody searches? wake_one().               after_publish()
//   worker:     RUNNING -> PARKED, SEARCHING -> PARKED: announce(); heavy_fence(); look
//               everywhere. Found? cancel() and search. Nothing? Sleep until the token comes.  Worker::park()
//   worker:     SEARCHING -> RUNNING: leave the word. Is anyone parked? Fence (full), look
//               everywhere, wake as many as there is work left for, all BEFORE it runs
//               what it found.                                                                 found_work()
//   worker:     RUNNING -> RUNNING with a new batch: as a submitter, for what it published.    after_publish()
//   worker:     RUNNING, SEARCHING -> reserve (roster.h), with a rest of its batch: as when it has just taken
//               that, and runs none of it itself.                                              Worker::publish()
//   worker:     SEARCHING -> gone: leave(); heavy_fence(); look everywhere. Found? Come back, if the
//               place is still there; otherwise another has come, and searches.                Worker::leave()
//   anyone:     SEARCHING -> did not come: is anyone parked, and nobody searches? Wake one.            did_not_come()
//   anyone:     clear kPaused; heavy_fence(); wake all.                                        Group::go_on() 
//
// The rule: a queue is non-empty => a worker is searching and will look again before it runs anything, or a wake is in
// flight, or nobody is parked. (A queue: a listed lane, or the rest of a batch, but for short ones of timers: see watch.h.)
//
// Hazard A: the submitter reads "nobody parked" before its task is visible, the worker announces and does not see the
// task. The light and the heavy fence forbid that both miss.
// Hazard B: the submitter sees a searcher and leaves the task to it, the searcher has found other work, perhaps for ever.
// Both fence fully: the submitter between task and word, the searcher between leaving the word and looking again.
//
// Who may wake whom: a parker sets its bit in beds_ and then raises `parked`. Lowering `parked` by one (CAS) is a
// permission, and a duty, to clear one set bit and to unpark its owner. There are always as many set bits as
// permissions out plus `parked`; so when `parked` is 0, every set bit is spoken for. Whoever wanted a certain bit (its
// own, to cancel; a pinned worker's) and finds it gone uses the permission on any other: a needless wake, but no
// permission is ever given back, for others may have looked meanwhile and seen `parked` too low.
// Hazard C: a bit that is set, but not yet counted, is cleared with the permission of another parker, whose own bit then
// stays set while `parked` is 0. That lasts until the first parker takes its second step: who sees its bit set and no
// permission tries again.
// While kPaused stands nobody is woken, and who looks finds nothing.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>

#include "group/watch.h"
#include "sync/atomic.h"
#include "sync/fence.h"
#include "sync/parker.h"
#include "sync/thread.h"
namespace hc {

class Gate {
  public:
    static constexpr uint64_t kClosed = uint64_t{1} << 32;  // submits are refused
    static constexpr uint64_t kSettled = uint64_t{1} << 33;  // what was accepted is visible, and does not grow any more
    static constexpr uint64_t kNow = uint64_t{1} << 34;      // what is queued is handed back instead of run
    static constexpr uint64_t kDropTimers = uint64_t{1} << 36;  // with kClosed: pending timers are handed back
    static constexpr uint64_t kBounded = uint64_t{1} << 35;  // from the start: a submit takes room before it pushes
    static constexpr uint64_t kEmpty = uint64_t{1} << 37;    // there is no worker: a submit gets one before it pushes
    static constexpr uint64_t kPaused = uint64_t{1} << 38;   // workers begin nothing
    static constexpr uint64_t kHigh = uint64_t{1} << 39;     // a task of high priority is queued: see levels.h

    static uint32_t parked(uint64_t word) { return static_cast<uint32_t>(word & 0xffff); }
    static uint32_t searching(uint64_t word) { return static_cast<uint32_t>(word >> 16 & 0xffff); }
    static uint32_t places(uint64_t word) { return static_cast<uint32_t>(word >> 48); }
    static bool nobody_to_wake(uint64_t word) { return (parked(word) == 0 && places(word) == 0) || (word & kPaused) != 0; }
    // True for a submitter that has nothing to do after its push: nobody to wake, nothing closed.
    static bool open(uint64_t word) { return (word & ~(kSearchers | kBounded | kHigh)) == 0; }

    // `beds`: (workers + 63) / 64 words of zero; `parkers`: one for each worker. All outlive the gate.
    void start(Atomic<uint64_t> *beds, Parker *parkers, uint32_t workers, const Watch *watch) {
        beds_ = beds;
        parkers_ = parkers;
        watch_ = watch;
        bed_words_ = (workers + 63) / 64;
    }

    uint64_t read() const { return word_.load(memory_order_relaxed); }
    bool closed() const { return (read() & kClosed) != 0; }
    bool short_way() const { return (read() & (kClosed | kBounded | kEmpty)) == 0; }
    bool all_busy() const {
        const uint64_t word = read();
        return parked(word) == 0 && searching(word) == 0 && places(word) == 0;
    }
    bool empty() const { return (read() & kEmpty) != 0; }
    bool paused() const { return (read() & kPaused) != 0; }
    bool high() const { return (read() & kHigh) != 0; }
    bool interrupts() const { return (read() & (kPaused | kHigh)) != 0; }  // a worker, between two tasks of a batch

    // Returns the word as it was.
    uint64_t raise(uint64_t flags) { return word_.fetch_or(flags, memory_order_release); }  // pairs with has()
    void lower(uint64_t flags) { word_.fetch_and(~flags, memory_order_relaxed); }
    bool has(uint64_t flag) const { return (word_.load(memory_order_acquire) & flag) != 0; }  // pairs with raise()

    // ---- after publishing a task or a batch ----
    enum class Wake { kNobody, kWoken, kMayCome };  // kMayCome: a place was taken, and the caller lets a worker come
    Wake after_publish() {
        if (nobody_to_wake(read())) return Wake::kNobody;
        atomic_thread_fence(memory_order_seq_cst);  // hazard B: pairs with the fence in found_work()
        return wake_one();
    }
    // Unless `enough` search already.
    Wake wake_one(uint32_t enough = 1) {
        uint64_t w = read(), from;
        do {
            if (nobody_to_wake(w) || searching(w) >= enough) return Wake::kNobody;
            from = parked(w) != 0 ? kOneParked : kOnePlace;
        } while (!word_.compare_exchange_weak(w, w - from + kOneSearcher, memory_order_relaxed, memory_order_relaxed));
        if (from == kOnePlace) return Wake::kMayCome;
        parkers_[take_any_bed()].unpark();
        return Wake::kWoken;
    }

    // All that are parked now; who parks later has seen why. Each by its own bed: the first may be back in its before the last is woken.
    void wake_all() {
        if (parked(word_.load(memory_order_acquire)) == 0) return;  // pairs with the release in announce(): the word | the bits
        for (uint32_t k = 0; k < bed_words_; k++)
            for (uint64_t bits = beds_[k].load(memory_order_relaxed); bits != 0; bits &= bits - 1)
                wake_in_bed(k * 64 + static_cast<uint32_t>(std::countr_zero(bits)));
    }

    // Wakes this worker if it is parked, whoever searches.
    bool wake(uint32_t i) { return !paused() && wake_in_bed(i); }

    // ---- the worker ----
    bool begin_search(uint32_t most) {
        uint64_t w = read();
        do
            if (searching(w) >= most) return false;
        while (!word_.compare_exchange_weak(w, w + kOneSearcher, memory_order_relaxed, memory_order_relaxed));
        return true;
    }

    void stop_searching() { word_.fetch_sub(kOneSearcher, memory_order_relaxed); }

    // The searcher has work. left(most) -> how much else is there to take, counted up to `most`. Returns how many
    // workers wake(wanted) has woken for it: up to four, so that a burst starts in a tree and not in a chain.
    template <class Left, class WakeOne>
    uint32_t found_work(Left &&left, WakeOne &&wake) {
        // release: what this searcher published is visible to the last one; pairs with the fence below
        const uint64_t before = word_.fetch_sub(kOneSearcher, memory_order_release);
        if (searching(before) > kFan || nobody_to_wake(before)) return 0;
        atomic_thread_fence(
            memory_order_seq_cst);  // hazard B: pairs with the fence in after_publish(), and the release
        const uint32_t wanted = left(kFan);
        uint32_t woken = 0;
        while (woken < wanted && wake(wanted)) woken++;
        return woken;
    }

    // ---- places: under the roster's lock, but for those that wake_one() takes ----
    void add_places(uint32_t n) { word_.fetch_add(n * kOnePlace, memory_order_relaxed); }
    uint32_t take_places(uint32_t most) {
        uint64_t w = read();
        uint32_t n;
        do
            if ((n = std::min(most, places(w))) == 0) return 0;
        while (!word_.compare_exchange_weak(w, w - n * kOnePlace, memory_order_relaxed, memory_order_relaxed));
        return n;
    }
    void leave() { word_.fetch_add(kOnePlace - kOneSearcher, memory_order_relaxed); }  // SEARCHING -> gone; then heavy_fence()
    // Nobody could be had for a place that wake_one() has taken. Others may have left their tasks to that searcher, while one parked.
    void did_not_come() {
        word_.fetch_add(kOnePlace - kOneSearcher, memory_order_relaxed);
        uint64_t w = read();
        do
            if (parked(w) == 0 || searching(w) != 0 || (w & kPaused) != 0) return;
        while (!word_.compare_exchange_weak(w, w - kOneParked + kOneSearcher, memory_order_relaxed, memory_order_relaxed));
        parkers_[take_any_bed()].unpark();
    }
    bool come() {  // into a place -> SEARCHING
        uint64_t w = read();
        do
            if (places(w) == 0) return false;
        while (!word_.compare_exchange_weak(w, w - kOnePlace + kOneSearcher, memory_order_relaxed, memory_order_relaxed));
        return true;
    }

    // Then heavy_fence(), then look everywhere, then cancel() or sleep().
    void announce(uint32_t i, bool was_searching) {
        beds_[i / 64].fetch_or(uint64_t{1} << i % 64, memory_order_relaxed);
        // release: who sees it counted sees its bit; pairs with the acquire in wake_all()
        word_.fetch_add(kOneParked - (was_searching ? kOneSearcher : 0), memory_order_release);
    }

    // True: SEARCHING again. False: a token is on its way; sleep() will return soon.
    bool cancel(uint32_t i) {
        do {
            if (!permission()) {
                thread_yield();  // as in wake(), unless our bit is gone too
                continue;
            }
            if (leave_bed(i)) return true;
            parkers_[take_any_bed()].unpark();
            return false;
        } while (in_bed(i));
        return false;
    }

    bool sleeps(uint32_t i) const { return in_bed(i); }
    void sleep(uint32_t i) { parkers_[i].park(); }  // returns SEARCHING
    // False: at the deadline, and still parked: cancel().
    bool sleep_until(uint32_t i, uint64_t deadline) { return parkers_[i].park_until(deadline) == Woken::kMaybe; }

  private:
    static constexpr uint32_t kFan = 4;
    static constexpr uint64_t kOneParked = 1, kOneSearcher = uint64_t{1} << 16, kSearchers = uint64_t{0xffff} << 16;
    static constexpr uint64_t kOnePlace = uint64_t{1} << 48;

    bool permission() {
        uint64_t w = read();
        do
            if (parked(w) == 0) return false;
        while (
            !word_.compare_exchange_weak(w, w - kOneParked + kOneSearcher, memory_order_relaxed, memory_order_relaxed));
        return true;
    }

    bool wake_in_bed(uint32_t i) {
        while (in_bed(i)) {
            if (!permission()) {
                thread_yield();  // it was taken for a parker between its two steps, which is about to raise `parked`
                continue;
            }
            parkers_[leave_bed(i) ? i : take_any_bed()].unpark();
            return true;
        }
        return false;
    }

    bool in_bed(uint32_t i) const { return (beds_[i / 64].load(memory_order_relaxed) >> i % 64 & 1) != 0; }
    bool leave_bed(uint32_t i) {
        const uint64_t bit = uint64_t{1} << i % 64;
        return (beds_[i / 64].fetch_and(~bit, memory_order_relaxed) & bit) != 0;
    }
    // With a permission there is a bit to be found, if not at the first pass. The lowest first: the same few workers
    // stay warm, the others can end. Who sits and waits for a timer comes last.
    uint32_t take_any_bed() {
        for (;;) {
            const uint32_t seat[2] = {watch_->sitting(0), watch_->sitting(1)};
            for (uint32_t k = 0; k < bed_words_; k++) {
                uint64_t bits = beds_[k].load(memory_order_relaxed);
                for (const uint32_t i : seat)
                    if (i / 64 == k) bits &= ~(uint64_t{1} << i % 64);
                if (bits == 0) continue;
                const uint32_t i = k * 64 + static_cast<uint32_t>(std::countr_zero(bits));
                if (leave_bed(i)) return i;
            }
            for (unsigned k = 2; k-- > 0;)
                if (seat[k] != Watch::kNobody && in_bed(seat[k]) && leave_bed(seat[k])) return seat[k];
        }
    }

    alignas(64) Atomic<uint64_t> word_{0};
    Atomic<uint64_t> *beds_ = nullptr;
    const Watch *watch_ = nullptr;
    Parker *parkers_ = nullptr;
    uint32_t bed_words_ = 0;
};

}  // namespace hc
