#include "group/expiry.h"

#include <algorithm>

#include "group/group.h"
#include "group/registry.h"
#include "group/scope.h"
#include "sync/clock.h"

namespace hc {
namespace {

// A walk over many records takes its time: no more of it than a fifth.
constexpr uint64_t kWalkShare = 4;

// Its scope may be destroyed as soon as it has ended, and its note is another's.
void drop_expired(Group *g, Task *t) {
    Scope *s = t->scope;
    if (s != nullptr) s->ref();
    drop_claimed(t, kWhyExpired);
    if (s != nullptr && !g->foreign()) s->unref();
}

}  // namespace

void Expiry::reap(Group *g) {
    look_at_.store(kNever, memory_order_relaxed);
    heavy_fence();  // pairs with light_fence in queued(): look_at | the task
    const uint64_t begin = now();
    uint64_t next = kNever;
    g->helped_begun.fetch_add(1, memory_order_relaxed);  // before the claims: a drain must not overlook the drops
    {
        registry::Borrowed frame(g);
        g->each_box([&](Outbox &o) {
            if (g->foreign()) return;  // a drop has forked, and this is the child
            o.tickets.made.walk([&](Ticket *t) {
                Ticket::Call call;
                if (t->expire(begin, &call))
                    g->hand_back_call({call.fn, call.arg}, call.drop, kWhyExpired);
                else
                    next = std::min(next, t->queued_until());
                return !g->foreign();
            });
            Home *home = g->foreign() ? nullptr : o.home.load(memory_order_acquire);  // pairs with the release in make_task()
            if (home == nullptr) return;
            home->made.walk([&](Task *t) {
                uint32_t seen;
                if (!t->expired(begin, &seen)) {
                    next = std::min(next, t->queued_until());
                } else if (t->try_ref()) {
                    if (t->claim(seen))
                        drop_expired(g, t);
                    else
                        next = std::min(next, t->queued_until());  // perhaps somebody listens, and it is queued all the same
                    if (!g->foreign()) task_release(t);
                }
                return !g->foreign();
            });
        });
    }
    if (g->foreign()) return;                            // a drop has forked, and this is the child
    g->helped_ended.fetch_add(1, memory_order_release);  // pairs with the acquire in quiescent()
    g->went_idle();
    if (next != kNever) lower(g, std::max(next, now() + kWalkShare * (now() - begin)));
}

}  // namespace hc
