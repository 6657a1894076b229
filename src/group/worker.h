// A worker: the thread that finds a batch, runs it, and sleeps when there is none.
#pragma once
#include "group/counter.h"
#include "group/kept.h"
#include "group/outbox.h"
#include "queue/batch.h"
#include "queue/deque.h"
#include "queue/directory.h"
#include "sync/thread.h"
namespace hc {

struct Inbox;

class alignas(64) Worker {
  public:
    Worker(Group &group, uint32_t index)
        : forks(&group), group_(group), index_(index), last_lane_(index * 64), watched_(index) {}

    ~Worker() { memory::destroy(record_); }
    bool prepare() {  // false: no memory
        return record_ != nullptr || (record_ = memory::make<ThreadRecord>()) != nullptr;
    }
    bool start();  // false: the system has no thread left
    Thread thread() const { return thread_; }
    uint32_t index() const { return index_; }
    Group &group() const { return group_; }

    Deque forks;
    Kept kept;

    // For others.
    Batch &batch() { return batch_; }
    uint64_t finished() const { return finished_.load(memory_order_acquire); }  // pairs with the release in run_batch()
    void abandon() { batch_.abandon(); }                                        // in a forked child, see registry.cpp

    // For onlookers (src/observe).
    struct Seen {
        Atomic<int32_t> thread{0};            // the kernel's number
        Atomic<uint64_t> since{0};            // when its batch, or stolen fork, began; to some milliseconds
        Atomic<const char *> label{nullptr};  // of its task
        Atomic<bool> forks{false};            // it runs a stolen fork
        Atomic<bool> rests{false};            // in the reserve
    } seen;
    bool blocked() const { return declared_.load(memory_order_relaxed) || excused_.load(memory_order_relaxed); }

    // The roster's, under its lock.
    enum Call { kNone, kCome, kGo };
    Plain<Call> call{Call::kNone};
    Plain<Worker *> next_in_reserve{nullptr};
    Plain<bool> hired{false};   // there is a thread,
    Plain<bool> leaves{false};  // which is on its way out

    // Its task blocks, and lets another worker come meanwhile. False: the cap is reached; it gets the room of the next that ends.
    bool block();
    void unblock();

    // For the sentinel. Is it in a task, or a stolen fork, in which it was at the last call? Then it may be excused: it counts as blocked
    // until it moves, if it sleeps in there, as the kernel says. False: it does not, or has said so itself, or the cap is reached.
    bool stands();
    bool excuse();
    void take_excuse_back();

    // A task of this worker waits, and lets anything run meanwhile. False: there was nothing.
    bool help();

    struct {
        Counter claims, claims_lost, steals, steals_lost, parks, wakes, barriers, unrun;
    } counters;

  private:
    static void *body(void *self);
    void live();
    void loop();
    bool run_batch();  // false: it was empty
    bool first_of_batch(Entry *out);
    bool is_too_many() const;
    Entry next_between();
    void give_room_back();
    void set_pace(uint64_t tasks, uint64_t took);

    // find.cpp: a batch of work, from wherever the group's kind allows
    enum class Found { kBatch, kFork, kNothing, kBusy };  // kBusy: there is work, but in another's hands at this moment
    Found find();
    bool find_first();
    bool find_last();
    bool find_in_level(Priority p);
    bool low_waits_long();
    void high_is_empty(Inbox &in);
    bool find_in_queues();
    bool find_due();
    void find_between();
    bool find_in_lanes();
    bool find_in_workers();
    bool find_behind_stuck();
    bool find_in(Lane &lane, uint32_t most);
    bool steal_from(Worker &victim);
    bool find_kept();
    bool find_kept_by_others();
    bool seems_stuck(uint64_t at);  // to another that looks: it stands where it stood kStuckAfter ago
    bool find_in_forks();
    void run_stolen();
    uint32_t work_left(uint32_t most, bool with_forks) const;  // how much is queued that this worker might run, counted up to `most`
    bool lets_go();       // of what it keeps. False: it could not
    bool begin_line(Worker &keeper);
    bool nothing_left();                      // the same for a closed group, whose unlisted lanes count too

    // sleep.cpp
    enum class Next { kBatch, kFork, kRest };
    void publish(bool was_searching, Next next = Next::kBatch);
    bool park(bool searching);  // true: nothing has come for so long that it may leave
    bool leave();
    uint64_t idle_until();
    bool rest_is_covered() const;
    uint64_t left_to_others(Next next) const;
    bool watch_forks();
    bool keep_watch(bool searching);
    void tidy();

    Group &group_;
    const uint32_t index_;
    Thread thread_{};
    ThreadRecord *record_ = nullptr;  // until the thread has it
    uint32_t last_lane_;              // where the round through the lanes stands
    uint32_t watched_;                // the worker that is suspected of being stuck,
    uint64_t watched_cursor_ = 0;     // and where it was when the suspicion began
    uint32_t finds_ = 0;
    uint32_t inside_ = 0;      // tasks that are in help()
    bool interrupted_ = false;  // the batch has been left because of a pause, or as one too many; in the next life it is still there
    uint64_t idle_since_ = 0;   // 0: not yet
    uint64_t room_back_ = 0;   // tasks whose room was given back
    uint32_t pace_ = Batch::kSize;  // most tasks in the next batch, so that one takes about kBatchTime
    uint64_t inserted_ = 0;         // tasks of levels, and timers, that have come into a batch one by one
    uint64_t low_seen_empty_ = 0;   // where its batch stood when LOW was empty, or it took one of it
    uint32_t high_in_row_ = 0;      // tasks of HIGH that it has begun without another,
    uint64_t high_next_ = 0;        // and the next of its batch after them
    bool timers_turn_ = false;      // among the others that come between
    uint32_t empties_ = 0;          // listed lanes met empty since the last tidy()
    bool met_busy_ = false;         // by the find() under way
    bool was_due_ = false;          // the last batch was of timers,
    uint64_t due_at_ = 0;           // that were due then
    Frame *fork_ = nullptr;         // what it found,
    Line *line_ = nullptr;          // or this
    bool kept_last_ = false;        // the last batch was a kept line
    Atomic<uint64_t> stood_at_{0}, stood_since_{0};  // of those that look whether it is stuck, see seems_stuck()

    // Are forks worth stealing? See sleep.cpp.
    uint64_t fork_pause_ = 0;  // ns between two attempts; 0: at any time
    uint64_t fork_again_ = 0;  // when the next is due
    uint64_t fork_average_ = 20'000;  // ns that they took, of late; at first they deserve a try
    uint32_t idle_watches_ = 0;
    const Deque *fork_from_ = nullptr;  // whose the last one was,
    const Slot *fork_top_ = nullptr;    // and where that deque's owner stood
    bool owner_stands_ = false;         // there it stood the time before, too
    bool forks_matter() const { return fork_pause_ == 0; }
    bool owes_look_ = false;        // a steal or tidy() has hidden something for a moment: publish() must look
    // Has made room for another: by its task's word, by the sentinel's (which sets it; whoever first sees that the worker has moved takes it back).
    Atomic<bool> declared_{false}, excused_{false};
    uint64_t stood_ = 0;  // the sentinel's
    void settle();
    Atomic<uint64_t> finished_{0};
    Batch batch_;
};

}  // namespace hc
