// Order: the tasks of a line run one after the other, each to its end, in the order in which they were put in. A serial has a line,
// and so has each key that has work (keys.h).
//
//   idle ──submit: the first task──> queued ──its entry is popped──> running ──the last task has ended──> idle
//                                    queued <──more are left───────── running
//
// Queued: its entry {run_line, line} lies in a lane, or in a batch: one entry, whatever the number of its tasks. Whoever takes that
// out has the line, alone, and runs a few of its tasks, or hands them back; then the line queues behind the others. A line that is
// not idle is somebody's to take up, so a submitter only adds to it.
//
//   field                        written by                             read by
//   Backlog::head                who has the line; when idle, under     who has the line
//                                the shard's lock
//   the rest of the Backlog      under the shard's lock                 the same; who has the line also reads the blocks that it knows
//                                                                       to be there
//   the rest                     when idle, under the shard's lock      anyone who may use the line
//
// Invariant: tasks.count() == 0 if and only if nobody has the line and no entry of it is queued. Tasks that run are still counted.
// Hazard: one adds a task while another finds that there is none left. Both are under the lock: the task is either found, or the
// first of a line that is idle.
// Hazard: a shutdown, between the look at Gate::kClosed and the push of the entry. Both are under the shard's lock, which the
// shutdown takes before it makes the lanes' counts final: such an entry never comes too late, and nobody has added to a line whose
// entry is taken back. An entry that comes back into the queue may be too late; who has the line then runs it to its end.
//
// A sticky one that is not idle may also be kept by its worker, instead of queued: kept.h.
//
// In a bounded group each queued task has its unit of room, the entry none of its own: who pops it gives back that of the first task.
#pragma once
#include "queue/backlog.h"
#include "queue/order.h"
#include "sync/atomic.h"
namespace hc {

class Group;
enum class Submit;
struct LineShard;
struct ThreadRecord;

struct alignas(64) Line {
    void *arg = nullptr;  // Slabs'; while it is kept: the next that is (kept.h)
    uint8_t place = 0;    // Slabs'
    Plain<bool> sticky{false};
    bool is_serial = false;  // else it is that of a key
    LineShard *shard = nullptr;
    uint64_t key = 0;      // of a serial: its inbox, in a group that has inboxes
    Line *next = nullptr;  // in its bucket
    Backlog tasks;         // last, with its own last: who looks for a key goes on to them on the next cache line

    Serial *serial();  // nullptr: it is that of a key
};
#ifndef HC_SYNC_MODEL
static_assert(sizeof(Line) == 128);
#endif

// What a thread runs, on its stack.
struct InLine {
    const Line *line;
    const InLine *outer;
};
class InTurn {
  public:
    explicit InTurn(const Line *l);
    ~InTurn();
    InTurn(const InTurn &) = delete;
    InTurn &operator=(const InTurn &) = delete;

  private:
    ThreadRecord *const self_;
    const InLine here_;
};

class Serial : public Line {
  public:
    Serial(Group *g, LineShard *s, uint32_t inbox) : group(g) {
        is_serial = true;
        shard = s;
        key = inbox;
    }
    Group *const group;  // with a reference
    void ref() { refs_.fetch_add(1, memory_order_relaxed); }
    void unref();

  private:
    Atomic<uint32_t> refs_{1};  // of its users, and one while its line is not idle
};
inline Serial *Line::serial() { return is_serial ? static_cast<Serial *>(this) : nullptr; }
Submit serial_make(Group *g, Serial **out);

// Queues e in its order. The policies of a full group hold for each task; but nothing that has an order is run by its submitter, for
// that would be ahead of the others: under Full::kRun it is queued above the capacity.
Submit submit_in_order(Group *g, const Ordering &o, Entry e);
// The same for one that was accepted before: there is always room for it.
Submit submit_ready_in_order(Group *g, const Ordering &o, Entry e);

// The same in a closed group, inside of one of its tasks. kYours: the line was idle, and the caller has it: it does now what e was to
// do, and then calls end_turn().
enum class Turn { kQueued, kYours, kNoMemory };
Turn take_turn(Group *g, const Ordering &o, Entry e, Line **line);
void end_turn(Line *l);

Submit order_in(Group *g);       // before take_turn() can be called: not kOk: no memory, ...
bool unkeep(Group *g, Line *l);  // a kept line (kept.h) queues in a lane. False: closed, or no memory
bool in_line_of(const Group *g, const Ordering &o);  // does the caller run in that line?

void run_line(void *line);                  // the entry's fn
void hand_back_line(Line *l, int32_t why);  // kWhyDropped: its first task only; the others are queued again

}  // namespace hc
