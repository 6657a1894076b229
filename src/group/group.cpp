#include "group/group.h"

#include <cstring>

#include "group/blocking.h"
#include "group/keys.h"
#include "group/registry.h"
#include "sync/cpus.h"

namespace hc {
namespace {

template <class T>
T *make_array(uint32_t n) {
    void *p = memory::allocate(sizeof(T) * n, alignof(T));
    return static_cast<T *>(p);
}
template <class T>
void destroy_array(T *p, uint32_t constructed, uint32_t n) {
    if (p == nullptr) return;
    while (constructed > 0) p[--constructed].~T();
    memory::release(p, sizeof(T) * n, alignof(T));
}
template <class T, class... Args>
T *build_array(uint32_t n, Args &&...args) {
    T *p = make_array<T>(n);
    for (uint32_t i = 0; p != nullptr && i < n; i++) new (p + i) T(args...);
    return p;
}

}  // namespace

Group::Group(const GroupOptions &options)
    : budget(options.capacity),
      options_(options),
      creator_signals_(thread_signals()),
      generation_(registry::generation) {
    strncpy(name_, options.name, sizeof name_ - 1);
    name_[sizeof name_ - 1] = 0;
    options_.name = name_;
}

bool Group::build() {
    if (!roster.start(options_.least, options_.most, options_.spares, options_.keep_alive, &gate)) return false;
    const uint32_t n = roster.slots();
    if ((parkers_ = build_array<Parker>(n)) == nullptr) return false;
    if (options_.cpu_count != 0) {
        if ((cpus_ = build_array<uint32_t>(options_.cpu_count)) == nullptr) return false;
        options_.cpus = static_cast<const uint32_t *>(memcpy(cpus_, options_.cpus, options_.cpu_count * sizeof(uint32_t)));
    }
    if ((beds_ = build_array<Atomic<uint64_t>>((n + 63) / 64)) == nullptr) return false;
    gate.start(beds_, parkers_, n, &timers.watch);
    if (budget.bounded()) gate.raise(Gate::kBounded);
    stuck.start(options_.spares == 0 ? kNever : options_.stuck_after);
    most_sharers = affinity_cpus();
    most_in_batch = budget.most_in_batch(options_.most, Batch::kSize);
    if (options_.kind != Kind::kStealing) {
        const uint32_t boxes = options_.kind == Kind::kShared ? 1 : n;
        if ((inboxes = build_array<Inbox>(boxes, rings)) == nullptr) return false;
        inbox_count = boxes;
        for (uint32_t i = 0; i < boxes; i++)
            if (!inboxes[i].box.start()) return false;
    }
    return roster.prepare(*this);
}

Group::Create Group::create(Group **out, const GroupOptions &options) {
    if (!registry::setup()) return Create::kNoMemory;
    fence_setup();
    memory::freeze_hooks();
    Group *g = nullptr;
    if (void *p = memory::allocate(sizeof(Group), alignof(Group))) g = new (p) Group(options);
    if (g == nullptr) return Create::kNoMemory;
    if (!g->build()) {
        free(g);
        return Create::kNoMemory;
    }
    while (g->roster.too_few()) {
        if (!g->gate.come()) {
            thread_yield();  // a start hook submits, and somebody comes for that
            continue;
        }
        if (g->roster.bring(*g)) continue;
        if (g->closed()) break;  // by a start hook
        g->shutdown(true);
        g->await(kNever);
        g->unref();
        return Create::kNoThread;
    }
    *out = g;
    return Create::kOk;
}

// Nobody uses it any more, and its workers, if they ever ran, have ended.
void Group::free(Group *g) {
    {
        Locked l(registry::lock);
        g->each_box([](Outbox &o) { registry::cut(&o); });
    }
    g->stuck.end();
    g->expiry.end();
    g->timers.end();
    memory::destroy(g->keys.load(memory_order_relaxed));
    g->directory.each_lane([](Lane *lane) { memory::destroy(static_cast<Outbox *>(lane)); });
    const uint32_t n = g->roster.slots();
    destroy_array(g->inboxes, g->inbox_count, g->inbox_count);
    destroy_array(g->beds_, (n + 63) / 64, (n + 63) / 64);
    destroy_array(g->parkers_, n, n);
    destroy_array(g->cpus_, 0, g->options_.cpu_count);
    memory::destroy(g);
}

bool Group::foreign() const { return generation_ != registry::generation; }

bool Group::try_ref() {
    uint32_t refs = refs_.load(memory_order_relaxed);
    do
        if (refs == 0) return false;
    while (!refs_.compare_exchange_weak(refs, refs + 1, memory_order_relaxed, memory_order_relaxed));
    return true;
}

void Group::unref() {
    uint32_t refs = refs_.load(memory_order_relaxed);
    do  // Only the workers would be left, and they cannot end before somebody tells them.
        if (refs == 2 && !closed()) shutdown(false);
    while (!refs_.compare_exchange_weak(refs, refs - 1, memory_order_acq_rel,  // pairs with itself: uses before the end
                                        memory_order_relaxed));
    if (refs != 1) return;
    roster.detach();
    free(this);
}

void Group::give_room(uint64_t n) {
    if (!budget.bounded() || n == 0) return;
    budget.give(n);
    waitlist.given(budget, sharers_of_room());
}

void Group::add_deque(Deque *d) {
    d->next = deques_.load(memory_order_relaxed);
    while (!deques_.compare_exchange_weak(d->next, d, memory_order_release,  // pairs with the acquire in deques()
                                          memory_order_relaxed)) {
    }
}

bool Group::divert_forks() {
    // Who has a new deque, or has rearmed one, either sees us stop, or we see the deque, and are not undone: pairs with the fence
    // in ring() (forks.cpp).
    atomic_thread_fence(memory_order_seq_cst);
    Deque *d = deques();
    if (d == nullptr) return false;
    for (; d != nullptr; d = d->next) d->divert();
    return true;
}

void Group::timer_gone() {
    if (!closed()) return;
    // The last two may go at once, of two shards: one of them sees both gone. Pairs with itself, and with heavy_fence in park():
    // Shard::kept | the word.
    atomic_thread_fence(memory_order_seq_cst);
    if (winding_up()) gate.wake_all();
}

bool Group::worker_gone(Worker &w) {
    if (roster.bury(w)) return true;
    if (roster.gone()) ended();
    return false;
}

// Only the last one may look at the group again: its reference is that of all workers.
void Group::ended() {
    changed.signal();
    unref();
}

bool Group::let_come(Gate::Wake wake, bool *refused) {
    const bool came = wake == Gate::Wake::kMayCome && roster.bring(*this), failed = wake == Gate::Wake::kMayCome && !came;
    if (refused != nullptr)
        *refused = failed;
    else if (failed)
        stuck.owe(this);
    return came || wake == Gate::Wake::kWoken;
}

// Where all places have been taken, but nobody has come, others are about to fill them, or will find that they cannot. Not to wait for
// that would be to rely on it; and a shutdown would end the group before they have.
bool Group::first_worker() {
    while (gate.empty() && !roster.turns_back()) {
        if (gate.come()) {
            if (roster.bring(*this)) return true;
            stuck.owe(this);  // one that was leaving may have met its place taken, and have left a task
            return roster.turns_back() || !gate.empty();  // meanwhile all that were leaving may have been called back
        }
        thread_yield();
    }
    return true;
}

bool Group::fill_up() {
    while (roster.too_few() && gate.come())
        if (!roster.bring(*this)) return false;
    return true;
}

bool Group::pause() {
    if (closed()) return false;
    gate.raise(Gate::kPaused);
    if (closed()) go_on();  // a shutdown came between
    return true;
}

bool Group::resume() {
    if (closed()) return false;
    go_on();
    return true;
}

void Group::go_on() {
    gate.lower(Gate::kPaused);
    if (options_.kind == Kind::kStealing) divert_forks();
    // Pairs with heavy_fence in park(), and with light_fence in a submit and in Deque::push(): the word, the limit | the word, the queues
    heavy_fence();
    gate.wake_all();
    if (work_waits()) wake_one();
}

void Group::resize(uint32_t least, uint32_t most) {
    roster.resize(least, most);
    look_for_more([this] { return work_waits(); });
    heavy_fence();  // pairs with heavy_fence in park(): least_ | the word
    gate.wake_all();  // who is too many steps back; who may leave now looks at the clock
    if (!fill_up()) stuck.owe(this);
    look_after();
}

bool Group::queues_empty() {
    bool empty = true;
    each_box([&](Outbox &o) { empty = empty && o.empty(); });
    empty = empty && timers.all_gone();
    for (uint32_t i = 0; i < roster.made(); i++) empty = empty && !roster.at(i).batch().has_rest();
    return empty && !lines_are_kept();
}

bool Group::lines_are_kept() const {
    if (keys.load(memory_order_relaxed) == nullptr) return false;
    for (uint32_t i = 0; i < roster.made(); i++)
        if (!roster.at(i).kept.empty()) return true;
    return false;
}

bool Group::work_waits() {
    bool forks = false;
    for (Deque *d = deques(); d != nullptr; d = d->next) forks = forks || d->has_work() != 0;
    return forks || !queues_empty();
}

// What has begun only grows, and what was accepted does not, nor what has fired: if the sums are equal, nothing is in between.
bool Group::all_begun() {
    uint64_t begun = reaped.load(memory_order_relaxed) + taken_begun.load(memory_order_relaxed);
    for (uint32_t i = 0; i < roster.made(); i++) begun += roster.at(i).batch().begun();
    uint64_t pushed = timers.fired();
    each_box([&](Outbox &o) { pushed += o.pushed_total(); });
    for (uint32_t i = 0; i < roster.made(); i++) pushed += roster.at(i).kept.put_total();
    return begun == pushed;
}

bool Group::quiescent() {
    // What has ended is summed up first, and what had begun (pushed, or run by a submitter) afterwards. The first sum
    // cannot exceed what had ended by the time between the two, nor the second fall short of what had begun by then: if
    // they are equal, all four are. All acquires here pair with the releases of those who say that something has ended.
    uint64_t ended = reaped.load(memory_order_acquire) + helped_ended.load(memory_order_acquire) +
                     taken_ended.load(memory_order_acquire);
    for (uint32_t i = 0; i < roster.made(); i++) ended += roster.at(i).finished();
    each_box([&](Outbox &o) { ended += o.here_ended.load(memory_order_acquire); });
    Keys *in_order = keys.load(memory_order_acquire);  // pairs with the release in keys_of()
    if (in_order != nullptr) in_order->each([&](LineShard &s) { ended += s.ended.load(memory_order_acquire); });
    uint64_t begun = timers.fired();
    if (in_order != nullptr) in_order->each([&](LineShard &s) { begun += s.accepted.load(memory_order_relaxed); });
    each_box([&](Outbox &o) { begun += o.pushed_total() + o.here_begun.load(memory_order_relaxed); });
    for (uint32_t i = 0; i < roster.made(); i++) begun += roster.at(i).kept.put_total();
    begun += helped_begun.load(memory_order_relaxed);
    return ended == begun;
}

void Group::went_idle() {
    if (!changed.awaited()) return;
    // Two may end at once, each the last but for the other: one of them must see both. Pairs with itself.
    atomic_thread_fence(memory_order_seq_cst);
    if (quiescent()) changed.signal();
}

// In a task of another group: it blocks.
bool Group::wait_for_change(uint32_t ticket, uint64_t deadline) {
    const Blocking declared;
    return changed.wait(ticket, deadline);
}

bool Group::drain(uint64_t deadline) {
    for (;;) {
        const uint32_t ticket = changed.prepare();
        const bool done = quiescent();
        if (!done) first_worker();
        const bool in_time = done || wait_for_change(ticket, deadline);
        changed.done();
        if (done) return true;
        if (!in_time) return quiescent();
    }
}

Inbox *Group::level(Priority p, bool *closed) {
    if (Inbox *in = levels.find(p)) return in;
    Locked l(registry::lock);
    if (Inbox *in = levels.find(p)) return in;
    *closed = gate.closed();
    return *closed ? nullptr : levels.make(p, rings);
}

Outbox *Group::hand_out() {
    holders_.store(holders_.load(memory_order_relaxed) + 1, memory_order_relaxed);
    // An empty one: who comes new does not wait behind what another has left. A few looks, for there may be thousands,
    // and all threads come here under the one lock.
    for (int looks = 0; looks < 8 && free_first_ != nullptr; looks++) {
        Outbox *o = take_free();
        if (o->empty()) return o;
        put_free(o);
    }
    Outbox *o = memory::make<Outbox>(rings);
    if (o != nullptr && o->start() && directory.add(o, &o->listing)) return o;
    memory::destroy(o);
    if (free_first_ != nullptr) return take_free();  // better late than refused
    holders_.store(holders_.load(memory_order_relaxed) - 1, memory_order_relaxed);
    return nullptr;
}

Outbox *Group::take_free() {
    Outbox *o = free_first_;
    free_first_ = std::exchange(o->next_free, nullptr);
    if (free_first_ == nullptr) free_last_ = nullptr;
    return o;
}

void Group::put_free(Outbox *o) {
    const bool first = free_first_ == nullptr || o->empty();
    if (first) {
        o->next_free = std::exchange(free_first_, o);
        if (free_last_ == nullptr) free_last_ = o;
    } else {
        free_last_ = free_last_->next_free = o;
    }
}

void Group::take_back(Outbox *o) {
    give_room(std::exchange(o->credit, 0));
    o->holder = nullptr;
    put_free(o);
    holders_.store(holders_.load(memory_order_relaxed) - 1, memory_order_relaxed);
}

}  // namespace hc
