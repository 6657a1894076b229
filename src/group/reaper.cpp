// The thread that hands back what has expired in a queue: see expiry.h.
#include <algorithm>
#include <new>
#include <utility>

#include "group/group.h"
#include "group/registry.h"
#include "sync/clock.h"
#include "sync/mutex.h"
#include "sync/parker.h"
#include "sync/thread.h"

namespace hc {

struct Reaper {
    static constexpr uint64_t kLinger = 10'000'000'000;  // ns without a time
    static constexpr uint64_t kRetry = 100'000'000;
    Mutex lock;
    Expiry *groups = nullptr;  // that ever had a task with a time
    bool runs = false;
    uint64_t retry_at = 0;  // a thread could not be had: not again before
    Parker bed;

    static void *body(void *);
    bool start();
    Group *due(uint64_t at, uint64_t *next);
    bool ends();
};

namespace {
Reaper reaper;
}

void Expiry::lower(Group *g, uint64_t at) {
    {
        Locked l(reaper.lock);
        if (at >= look_at_.load(memory_order_relaxed) || !reaper.start()) return;  // without a thread: the next tries again
        look_at_.store(at, memory_order_relaxed);
        if (group_ == nullptr) {
            group_ = g;
            next_ = std::exchange(reaper.groups, this);
        }
    }
    reaper.bed.unpark();
}

void Expiry::end() {
    Locked l(reaper.lock);
    if (group_ == nullptr) return;
    Expiry **at = &reaper.groups;
    while (*at != this) at = &(*at)->next_;
    *at = next_;
}

bool Reaper::start() {
    if (runs) return true;
    if (now() < retry_at) return false;
    Thread t;
    retry_at = after(kRetry);
    if (!thread_start(&t, body, nullptr, 0)) return false;
    thread_detach(t);
    retry_at = 0;
    return runs = true;
}

// A group whose time has come, with a reference; nullptr: none, and when the next is due.
Group *Reaper::due(uint64_t at, uint64_t *next) {
    *next = kNever;
    Locked l(lock);
    for (Expiry *e = groups; e != nullptr; e = e->next_) {
        const uint64_t look_at = e->look_at_.load(memory_order_relaxed);
        if (look_at <= at && e->group_->try_ref()) return e->group_;
        if (look_at > at) *next = std::min(*next, look_at);
    }
    return nullptr;
}

void *Reaper::body(void *) {
    thread_name("hc-reaper");
    for (;;) {
        uint64_t next;
        while (Group *g = reaper.due(now(), &next)) {
            registry::Call call(g);
            g->expiry.reap(g);
            if (g->foreign()) return nullptr;  // a drop has forked, and this is the only thread of the child
            registry::unref(g);
        }
        const Woken woken = reaper.bed.park_until(next != kNever ? next : after(kLinger));
        if (woken == Woken::kTimedOut && next == kNever && reaper.ends()) return nullptr;
    }
}

bool Reaper::ends() {
    Locked l(lock);
    for (Expiry *e = groups; e != nullptr; e = e->next_)
        if (e->look_at_.load(memory_order_relaxed) != kNever) return false;
    return !(runs = false);
}

void reaper_fork_child() { new (&reaper) Reaper; }

}  // namespace hc
