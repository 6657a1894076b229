#include "group/sentinel.h"

#include <algorithm>
#include <new>
#include <utility>

#include "group/deadline.h"
#include "group/group.h"
#include "sync/clock.h"
#include "sync/mutex.h"
#include "sync/parker.h"
#include "sync/thread.h"

namespace hc {

constexpr uint64_t kLinger = 10'000'000'000;  // ns without a group, and without a limit

struct Sentinel {
    Mutex lock;
    Stuck *groups = nullptr;
    bool runs = false;
    uint64_t retry_at = 0;  // a thread could not be had: not again before
    Parker bed;

    static void *body(void *);
    bool start();  // under lock. False: no thread can be had
    uint64_t round(uint64_t at);
    bool ends();
};

namespace {
Sentinel sentinel;
}

void Stuck::list(Group *g) {
    Locked l(sentinel.lock);
    if (listed() || !enter(g)) return;  // not listed: the next batch tries again
    look_at_ = after(after_);
    calm_ = 0;
    listed_.store(true, memory_order_relaxed);
}

bool Stuck::list_owed(Group *g) {
    Locked l(sentinel.lock);
    if (!enter(g)) return false;
    retry_at_ = after(kRetry);
    return true;
}

// Under the sentinel's lock, which it takes before it asks when it is due.
bool Stuck::enter(Group *g) {
    if (!sentinel.start()) return false;
    group_ = g;
    if (!std::exchange(in_list_, true)) next_ = std::exchange(sentinel.groups, this);
    sentinel.bed.unpark();
    return true;
}

bool Sentinel::start() {
    if (runs) return true;
    if (now() < retry_at) return false;
    Thread t;
    retry_at = after(Stuck::kRetry);
    if (!thread_start(&t, body, nullptr, 0)) return false;
    thread_detach(t);
    retry_at = 0;
    return runs = true;
}

bool sentinel_ring() {
    {
        Locked l(sentinel.lock);
        if (!sentinel.start()) return false;
    }
    sentinel.bed.unpark();
    return true;
}

void Stuck::end() {
    Locked l(sentinel.lock);
    if (!in_list_) return;
    Stuck **at = &sentinel.groups;
    while (*at != this) at = &(*at)->next_;
    *at = next_;
    in_list_ = false;
}

// One look at those groups whose time has come. Returns when the next is due.
uint64_t Sentinel::round(uint64_t at) {
    uint64_t next = kNever;
    Locked l(lock);
    for (Stuck **s = &groups; *s != nullptr;) {
        Stuck &here = **s;
        if (here.retry_at_ <= at) here.retry(*here.group_);
        if (here.look_at_ <= at) here.look(*here.group_);
        const uint64_t due = std::min(here.look_at_, here.retry_at_);
        if (due == kNever) {
            here.in_list_ = false;
            *s = here.next_;
            continue;
        }
        next = std::min(next, due);
        s = &here.next_;
    }
    return next;
}

void *Sentinel::body(void *) {
    thread_name("hc-sentinel");
    for (;;) {
        const uint64_t at = now();
        if (limits_due() <= at) limits_look(at);
        const uint64_t next = std::min(sentinel.round(at), limits_due());
        const Woken woken = sentinel.bed.park_until(next != kNever ? next : after(kLinger));
        if (woken == Woken::kTimedOut && next == kNever && sentinel.ends()) return nullptr;
    }
}

bool Sentinel::ends() {
    Locked l(lock);
    return groups == nullptr && limits_due() == kNever && !(runs = false);
}

void sentinel_fork_child() { new (&sentinel) Sentinel; }

}  // namespace hc
