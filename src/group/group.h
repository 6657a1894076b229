// A group: its workers, its queues, and its life.
//
//   OPEN ──shutdown──> CLOSED ──what was accepted is final──> SETTLED ──all of it has begun, workers gone──> ENDED
//
// The steps of a shutdown, by name (closing.cpp):
//   close   Gate::kClosed: submits that begin now are refused
//   settle  heavy_fence, the registry's lock, the inboxes' locks: a submit that had not seen kClosed is now visible. Every
//           lane's count is made final: a submit that comes later takes back what it pushed. Gate::kSettled
//   end     a worker leaves when everything accepted has begun; await returns when the last thread has been joined
// References: one for each hc_group_ref and the creator, one for all workers together, until the last is gone and the group closed.
#pragma once
#include <cstdint>

#include "group/budget.h"
#include "group/expiry.h"
#include "group/gate.h"
#include "group/levels.h"
#include "group/roster.h"
#include "group/sentinel.h"
#include "group/timers.h"
#include "group/waitlist.h"
#include "group/worker.h"
#include "queue/directory.h"
#include "sync/cpus.h"
#include "sync/event.h"
namespace hc {

class Keys;

enum class Kind : uint32_t { kStealing = 0, kShared = 1, kPinned = 2 };
enum class Full : uint32_t { kFail = 0, kWait = 1, kRun = 2, kDropNewest = 3, kDropOldest = 4 };

struct GroupOptions {
    const char *name = "hc";
    uint32_t least = 1, most = 1, spares = 0;  // workers
    uint64_t keep_alive = 60'000'000'000;
    uint64_t stuck_after = 100'000'000;
    const uint32_t *cpus = nullptr;
    uint32_t cpu_count = 0;
    Cpus found{};  // the usable ones, where `most` comes from them
    Kind kind = Kind::kStealing;
    uint64_t capacity = 0;
    Full full = Full::kFail;
    uint64_t full_timeout = UINT64_MAX;
    uint32_t spin_ns = 0;
    size_t stack_size = 0;
    void *user = nullptr;
    void (*on_thread_start)(void *, uint32_t) = nullptr;
    void (*on_thread_stop)(void *, uint32_t) = nullptr;
    void (*on_unrun)(void *, void (*)(void *), void *, int32_t) = nullptr;
    uint64_t run_limit = UINT64_MAX, queue_expiry = UINT64_MAX;  // ns, of tasks that bring none
    void (*on_limit)(void *, void (*)(void *), void *, const char *, uint64_t) = nullptr;
};

class Group {
  public:
    enum class Create { kOk, kNoMemory, kNoThread };
    static Create create(Group **out, const GroupOptions &options);
    static void free(Group *g);  // without workers

    void ref() { refs_.fetch_add(1, memory_order_relaxed); }
    bool try_ref();  // false: there was none left
    void unref();
    bool foreign() const;  // of the parent process
    bool closed() const { return gate.closed(); }
    // Closed, and no timer has to be waited for. Until it is settled, one may still be accepted.
    bool winding_up() const {
        return closed() && (gate.has(Gate::kDropTimers) || (gate.has(Gate::kSettled) && !timers.keeping()));
    }

    // closing.cpp
    void shutdown(bool now, bool keep_timers = false);
    void hand_back(Entry e, int32_t why = -1010);  // an accepted task will not run; HC_ESHUTDOWN
    void reap(const Entry *e, uint32_t n, int32_t why = -1010);  // the same for such as were taken out of a queue, by the caller
    void hand_back_call(Entry e, void (*drop)(void *, int32_t), int32_t why);
    void give_room(uint64_t n);     // of a bounded group
    uint64_t sharers_of_room() const { return inbox_count == 0 ? holders() : UINT64_MAX; }
    void timer_gone();              // was it the last that a closed group has kept?
    bool reap_timers();             // hands pending ones back; false: there is none, or this is the child of a fork
    bool await(uint64_t deadline);  // false: timed out

    bool drain(uint64_t deadline);
    bool quiescent();  // there was a moment, during this call, with nothing queued and nothing running
    void went_idle();  // something ended that may have been the last: tell those who wait for that

    // Lanes of submitters, under the registry's lock.
    Outbox *hand_out();
    void take_back(Outbox *o);
    uint32_t next_in_turn() { return turn_.fetch_add(1, memory_order_relaxed) % inbox_count; }  // HC_KIND_PINNED
    uint64_t holders() const { return holders_.load(memory_order_relaxed); }

    // True when nothing is queued: neither in a lane nor in a batch behind the task that its worker is running.
    bool queues_empty();
    bool work_waits();  // in a queue, or a deque of forks
    // Of a settled group that runs what it has, and has no timer left: has everything accepted begun, or is it the next of its worker?
    bool all_begun();
    template <class F>
    void each_box(F &&f) {
        directory.each_lane([&](Lane *lane) { f(*static_cast<Outbox *>(lane)); });
        each_inbox([&](Inbox &in) { f(in.box); });
    }
    template <class F>
    void each_inbox(F &&f) {
        for (uint32_t i = 0; i < inbox_count; i++) f(inboxes[i]);
        levels.each(f);
    }
    // The queue of a priority that is not normal, made now if need be. nullptr: no memory, or *closed.
    Inbox *level(Priority p, bool *closed);

    bool worker_gone(Worker &w);  // the last act of a worker, which owns no part of the group afterwards. True: it is needed

    // ---- workers come and wake (gate.h, roster.h) ----
    // True: a worker was woken, or has come. *refused: there was room for one, but none could be had; the caller sees to it (sentinel.h).
    bool wake_one(uint32_t enough = 1, bool *refused = nullptr) { return let_come(gate.wake_one(enough), refused); }
    bool after_publish() { return let_come(gate.after_publish(), nullptr); }
    bool first_worker();  // there is one, now; false: none could be had
    bool fill_up();       // there are as many as there must be; false: one could not be had
    // There is room for one more: is there work for it? work() says so. A submitter that saw neither room nor anybody parked has
    // not fenced, and left its task to whoever was searching, who may look too early: that one looks again, with a fence.
    template <class Work>
    void look_for_more(Work &&work) {
        const uint64_t word = gate.read();
        if (Gate::parked(word) != 0) return;  // whoever publishes meets that one
        if (Gate::searching(word) != 0) {
            more_room();
            if (Gate::searching(gate.read()) != 0) return;
        }
        if (work() && wake_one()) return;
        if (options_.kind == Kind::kStealing) divert_forks();
        heavy_fence();  // pairs with light_fence in a submit and in publish(): the word, the limit | the queues
        if (work()) wake_one();
    }
    // Word for those who search that there is a place more, also one that could not be filled.
    void more_room() {
        more_room_.store(true, memory_order_relaxed);
        // Pairs with the fence in found_work(): more_room_ | the word. And, before owe(), with heavy_fence in Stuck::retry(): the task |
        // owed_
        atomic_thread_fence(memory_order_seq_cst);
    }
    // By a searcher that has found something, before it looks for what else there is. True: with a heavy_fence.
    bool take_more_room() { return more_room_.load(memory_order_relaxed) && more_room_.exchange(false, memory_order_relaxed); }
    // If all workers are busy now, the sentinel is to look after them (sentinel.h).
    void look_after() {
        if (!gate.all_busy()) return;
        light_fence();  // pairs with heavy_fence in Stuck::look(): the word | listed()
        if (!stuck.listed()) stuck.list(this);
    }
    bool pause();   // false: it is shut down
    bool resume();
    void resize(uint32_t least, uint32_t most);
    Parker &bed(uint32_t worker) { return parkers_[worker]; }

    const GroupOptions &options() const { return options_; }
    bool limits() const { return options_.run_limit != UINT64_MAX; }     // also tasks that are nothing but fn and arg
    bool expires() const { return options_.queue_expiry != UINT64_MAX; }
    const sigset_t &creator_signals() const { return creator_signals_; }

    // Whose forks may be stolen: all that have ever forked here.
    Deque *deques() const { return deques_.load(memory_order_acquire); }  // pairs with the release in add_deque()
    void add_deque(Deque *d);
    // From now on the next push of each asks the gate. For one who stops to search, before a heavy_fence and a last look.
    // False: there is none.
    bool divert_forks();
    // See sleep.cpp. One worker at a time; false: another does.
    bool begin_watch() { return !fork_watch_.exchange(true, memory_order_relaxed); }
    void end_watch() { fork_watch_.store(false, memory_order_relaxed); }
    // The same for what workers keep: see kept.h.
    bool begin_kept_watch() { return !kept_watch_.exchange(true, memory_order_relaxed); }
    void end_kept_watch() { kept_watch_.store(false, memory_order_relaxed); }
    bool watches_kept() const { return kept_watch_.load(memory_order_relaxed); }
    bool lines_are_kept() const;
    bool watches_forks() const { return fork_watch_.load(memory_order_relaxed); }

    Gate gate;
    Directory directory;
    RingPool rings;
    Budget budget;
    Waitlist waitlist;
    Timers timers;
    Atomic<Keys *> keys{nullptr};  // made at the first use of an order: keys.h
    Event changed;
    Roster roster;
    Stuck stuck;
    Expiry expiry;
    Atomic<uint64_t> overran{0};  // tasks, their limit
    uint32_t most_in_batch = 0;
    Levels levels;
    uint32_t most_sharers = 1;  // CPUs of the creator: more workers than that do not run at once
    uint32_t inbox_count = 0;
    Inbox *inboxes = nullptr;
    Atomic<uint64_t> reaped{0};  // handed back by others than workers
    Atomic<uint64_t> submit_wakes{0};
    Atomic<uint64_t> helped_begun{0}, helped_ended{0};  // tasks that were run by who waits
    Atomic<uint64_t> taken_begun{0}, taken_ended{0};    // tasks that they took out of a queue, instead of a worker

  private:
    explicit Group(const GroupOptions &options);
    bool build();
    bool let_come(Gate::Wake wake, bool *refused);
    void go_on();
    void let_end();
    bool wait_for_change(uint32_t ticket, uint64_t deadline);
    void ended();
    void reap_batches();
    void reap_lanes();
    Outbox *take_free();
    void put_free(Outbox *o);

    GroupOptions options_;
    char name_[16];
    sigset_t creator_signals_;
    const uint32_t generation_;
    Parker *parkers_ = nullptr;
    uint32_t *cpus_ = nullptr;  // options_.cpus
    Atomic<uint64_t> *beds_ = nullptr;
    Atomic<Deque *> deques_{nullptr};
    Atomic<bool> fork_watch_{false}, kept_watch_{false};
    Atomic<bool> more_room_{false};  // see look_for_more()
    Outbox *free_first_ = nullptr, *free_last_ = nullptr;  // handed back, empty ones first; under the registry's lock
    Atomic<uint64_t> holders_{0};
    Atomic<uint32_t> turn_{0};
    Atomic<uint32_t> refs_{2};  // the creator's, the workers'
};

}  // namespace hc
