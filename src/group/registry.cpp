#include "group/registry.h"

#include <atomic>

#include "group/group.h"
#include "group/sentinel.h"
#include "group/sleepers.h"
#include "group/worker.h"

namespace hc {

__thread ThreadRecord *this_thread = nullptr;

namespace registry {

uint32_t generation = 0;
Mutex lock;

namespace {

std::atomic<uint32_t> threads{0};  // that ever came. Past the seam: it spreads threads over shards, and no protocol reads it
bool ready = false;
bool forked_in_task = false;  // this process, by a task of its parent
sigset_t forking_task_mask;

// A thread ends.
void hand_back(void *p) {
    auto *t = static_cast<ThreadRecord *>(p);
    this_thread = nullptr;
    limits_forget(t->deadlines);
    for (Binding *b = t->bindings; b != nullptr;) {
        {
            Locked l(lock);
            if (Group *g = b->group.load(memory_order_relaxed)) g->take_back(b->outbox);
        }
        memory::destroy(std::exchange(b, b->next));
    }
    memory::destroy(t);
}

// The child of a fork has one thread, and no worker. What the record knew belongs to the parent: forgotten, not freed,
// since the parent's other threads may have been in the middle of changing it, or held the lock.
void child() {
    generation++;
    forked_in_task = false;
    if (this_thread != nullptr && this_thread->self != nullptr) {
        forked_in_task = true;
        forking_task_mask = this_thread->self->group().creator_signals();
        this_thread->self->abandon();
    }
    this_thread = nullptr;
    thread_keep(nullptr);
    new (&lock) Mutex;
    memory::fork_child();
    sleepers_fork_child();
    limits_fork_child();
    reaper_fork_child();
    sentinel_fork_child();
}

}  // namespace

bool setup() {
    Locked l(lock);  // several threads may each create the first group
    return ready = ready || thread_hooks(hand_back, child);
}

ThreadRecord *record() {
    if (this_thread != nullptr) return this_thread;
    auto *t = memory::make<ThreadRecord>();
    if (t == nullptr) return nullptr;
    if (!thread_keep(t)) {
        memory::destroy(t);
        return nullptr;
    }
    t->number = threads.fetch_add(1, std::memory_order_relaxed);
    return this_thread = t;
}

void adopt(ThreadRecord *made) {
    made->number = threads.fetch_add(1, std::memory_order_relaxed);
    this_thread = made;
    thread_keep(made);  // if it fails, retire() does what the key's destructor would have done
}

void retire() {
    thread_keep(nullptr);
    hand_back(this_thread);
}

Outbox *bound(const ThreadRecord *t, const Group *g) {
    for (const Binding *b = t->bindings; b != nullptr; b = b->next)
        if (b->group.load(memory_order_relaxed) == g) return b->outbox;
    return nullptr;
}

Outbox *bind(Group *g, bool *closed) {
    ThreadRecord *t = record();
    if (t == nullptr) return nullptr;
    Binding *free = nullptr;
    for (Binding *b = t->bindings; b != nullptr; b = b->next) {
        Group *of = b->group.load(memory_order_relaxed);
        if (of == g) return b->outbox;
        if (of == nullptr) free = b;
    }
    if (free == nullptr) {
        if ((free = memory::make<Binding>()) == nullptr) return nullptr;
        free->thread = t;
        free->next = std::exchange(t->bindings, free);
    }
    Locked l(lock);
    *closed = g->closed() && !inside(g);
    Outbox *o = *closed ? nullptr : g->hand_out();
    if (o == nullptr) return nullptr;
    o->holder = free;
    free->outbox = o;
    free->group.store(g, memory_order_relaxed);
    return o;
}

Borrowed::Borrowed(Group *g) : thread_(record()) {
    if (thread_ == nullptr) return;
    Worker *self = thread_->self;  // of g, in a task of another group, in a task of g
    if (self != nullptr && &self->group() != g) self = nullptr;
    here_.group = g;
    here_.worker = self;
    here_.borrowed = true;
    here_.outer = std::exchange(thread_->now, &here_);
}

Borrowed::~Borrowed() {
    if (thread_ == nullptr || this_thread != thread_) return;  // the child of a fork
    thread_->debt += here_.unrefs;
    thread_->now = here_.outer;
}

bool inside(const Group *g) {
    if (this_thread != nullptr)
        for (const Context *f = this_thread->now; f != nullptr; f = f->outer)
            if (f->group == g) return true;
    return false;
}

void unref(Group *g) {
    Context *outermost = nullptr;
    if (this_thread != nullptr)
        for (Context *f = this_thread->now; f != nullptr; f = f->outer)
            if (f->group == g) outermost = f;
    if (outermost != nullptr && outermost->borrowed)
        outermost->unrefs++;
    else
        g->unref();
}

Call::Call(Group *g)
    : group_(g),
      generation_(generation),
      outer_debt_(this_thread == nullptr ? 0 : std::exchange(this_thread->debt, 0)) {}

Call::~Call() {
    // The record may have been made meanwhile, by a callback. The child of a fork owes nothing.
    if (this_thread == nullptr || generation_ != generation) return;
    for (uint32_t n = std::exchange(this_thread->debt, outer_debt_); n > 0; n--) group_->unref();
}

const sigset_t *mask_of_forking_task() { return forked_in_task ? &forking_task_mask : nullptr; }

void cut(Outbox *o) {
    Binding *b = o->holder;
    if (b == nullptr) return;
    Group *g = b->group.load(memory_order_relaxed);
    if (b->thread->hot_group.load(memory_order_relaxed) == g) b->thread->hot_group.store(nullptr, memory_order_relaxed);
    b->outbox = nullptr;
    b->group.store(nullptr, memory_order_relaxed);
}

}  // namespace registry
}  // namespace hc
