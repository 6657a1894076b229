#include "group/sentinel.h"

#include <algorithm>
#include <new>
#include <utility>

#include "group/group.h"
#include "sync/clock.h"
#include "sync/mutex.h"
#include "sync/parker.h"
#include "sync/thread.h"

namespace hc {

constexpr uint64_t kLinger = 10'000'000'000;  // ns without a group

struct Sentinel {
    Mutex lock;
    Stuck *groups = nullptr;
    bool runs = false;
    Parker bed;

    static void *body(void *);
    uint64_t round(uint64_t at);
    bool ends();
};

namespace {
Sentinel sentinel;
}

void Stuck::list(Group *g) {
    Locked l(sentinel.lock);
    if (listed()) return;
    group_ = g;
    look_at_ = after(after_);
    calm_ = 0;
    if (!sentinel.runs) {
        Thread t;
        if (!thread_start(&t, Sentinel::body, nullptr, 0)) return;  // not listed: the next batch tries again
        thread_detach(t);
        sentinel.runs = true;
    }
    next_ = std::exchange(sentinel.groups, this);
    in_list_ = true;
    listed_.store(true, memory_order_relaxed);
    sentinel.bed.unpark();
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
        if (here.look_at_ <= at && !here.look(*here.group_)) {
            here.in_list_ = false;
            *s = here.next_;
            continue;
        }
        next = std::min(next, here.look_at_);
        s = &here.next_;
    }
    return next;
}

void *Sentinel::body(void *) {
    thread_name("hc-sentinel");
    for (;;) {
        const uint64_t next = sentinel.round(now());
        const Woken woken = sentinel.bed.park_until(next != kNever ? next : after(kLinger));
        if (woken == Woken::kTimedOut && next == kNever && sentinel.ends()) return nullptr;
    }
}

bool Sentinel::ends() {
    Locked l(lock);
    return groups == nullptr && !(runs = false);
}

void sentinel_fork_child() { new (&sentinel) Sentinel; }

}  // namespace hc
