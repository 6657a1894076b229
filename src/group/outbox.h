// What one submitting thread has in one group, and how a thread finds it again.
//
//   Outbox        the lane and the tickets; the group's, as long as the group lives
//   Binding       (thread, group) -> outbox; the thread's, as long as the thread lives
//   ThreadRecord  a thread's bindings, and what it is doing now
//
// A thread that ends hands its outboxes back: a new submitter goes on with them once they are empty. A
// group that ends cuts its bindings. Both happen under the registry's lock (registry.h), which guards every write here
// but those to `hot_*`, `now` and `debt`. A thread reads its own bindings without it: one that names a group that the thread
// may still use is not being cut.
#pragma once
#include "group/deadline.h"
#include "queue/deque.h"
#include "queue/lane.h"
#include "task/home.h"
#include "task/ticket.h"
namespace hc {

class Group;
class Worker;
struct InLine;
struct ThreadRecord;
struct Timer;
struct Binding;

struct Outbox : Lane {
    explicit Outbox(RingPool &pool) : Lane(pool) {}
    ~Outbox() {
        memory::destroy(forks);
        if (Home *h = home.load(memory_order_relaxed)) h->close();
    }
    Recycler<Ticket> tickets;
    Atomic<Home *> home{nullptr};  // of the held tasks that its thread has submitted
    Deque *forks = nullptr;  // of a submitter that has entered the group: see forks.h
    uint64_t credit = 0;     // the producer's: room taken ahead (budget.h)
    bool runs_here = false;  // the producer's: it met a full queue under HC_FULL_RUN, see room() in submit.cpp
    Atomic<uint64_t> here_begun{0}, here_ended{0};  // tasks that producers ran themselves, the queue being full
    Binding *holder = nullptr;                      // nullptr: free, in the group's list
    Outbox *next_free = nullptr;
};

struct Binding {
    ThreadRecord *thread = nullptr;
    Atomic<Group *> group{nullptr};  // nullptr: cut; the binding may be used again
    Outbox *outbox = nullptr;
    Binding *next = nullptr;
};

// What a thread is in: a task, a drop, or a thread hook. Contexts nest, each on the stack of what it is for: a task may submit to
// a full group, or wait, which makes its thread run another task meanwhile.
struct Context {
    Group *group = nullptr;
    Worker *worker = nullptr;  // whose index the task sees
    const char *label = nullptr;
    Task *task = nullptr;  // held, or a scope's
    Timer *timer = nullptr;  // whose body or drop it is
    const Deadline *deadline = nullptr;  // it has a limit
    Deque *forks = nullptr;  // where it forks: in the group, or in one that it has entered; nullptr: it has not yet
    bool borrowed = false;  // on a thread that is not the group's: nothing but its own reference keeps the group alive
    uint32_t unrefs = 0;  // references that were dropped inside, and that the thread owes until it is out of the group
    Context *outer = nullptr;
};

struct ThreadRecord {
    // The last stealing group that this thread submitted to: the short way (submit.h).
    Atomic<Group *> hot_group{nullptr};
    Outbox *hot_outbox = nullptr;
    Binding *bindings = nullptr;
    Worker *self = nullptr;  // nullptr: not a worker's thread
    uint32_t blocking = 0;   // calls of blocking_begin() without their end,
    bool helped = false;     // and whether the outermost has made room for another worker
    Task *submits = nullptr;  // what it is submitting to a scope
    const InLine *in_line = nullptr;  // whose tasks are on its stack, see line.h
    uint32_t number = 0;     // threads are spread over the shards of timers by it
    Atomic<const char *> *shows = nullptr;  // a worker's: where others see the label of its task
    uintptr_t stack_half = 0;   // the middle of the thread's stack; 0: not asked yet
    Context outermost;
    Context *now = &outermost;
    uint32_t debt = 0;  // the innermost registry::Call's: see Context::unrefs
    Deadlines deadlines;
};

// One pointer, so that even a dlopen'ed library finds room for it in the static TLS block.
#ifdef __GLIBC__
#define HC_TLS_MODEL __attribute__((tls_model("initial-exec")))
#else
#define HC_TLS_MODEL
#endif
extern __thread ThreadRecord *this_thread HC_TLS_MODEL;

}  // namespace hc
