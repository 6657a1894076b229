#include "group/group.h"
#include "group/sentinel.h"
#include "sync/clock.h"

namespace hc {

constexpr uint32_t kCalmLooks = 8;  // of a group that is not all busy, before it is unlisted

// A worker that stands where it stood a look ago, and sleeps, gets a spare one: one in each look.
void Stuck::look(Group &g) {
    look_at_ = after(after_);
    if (g.gate.all_busy()) {
        calm_ = 0;
    } else if (++calm_ >= kCalmLooks) {
        listed_.store(false, memory_order_relaxed);
        heavy_fence();  // pairs with light_fence in Worker::publish(): listed_ | the word
        if (!g.gate.all_busy()) {
            look_at_ = kNever;
            return;
        }
        listed_.store(true, memory_order_relaxed);
    }
    const bool waits = g.gate.all_busy() && !g.gate.paused() && !g.queues_empty();
    bool helped = false;
    for (uint32_t i = 0; i < g.roster.made(); i++) {
        Worker &w = g.roster.at(i);
        if (!w.stands())
            w.take_excuse_back();  // it went on, or to bed, between the look and the excuse
        else if (waits && !helped)
            helped = w.excuse();
    }
    bool refused = false;
    if (helped) g.wake_one(1, &refused);
    if (refused) retry_at_ = after(kRetry);
}

// Whoever could not get a worker, now or then.
void Stuck::retry(Group &g) {
    retry_at_ = kNever;
    owed_.exchange(false, memory_order_relaxed);
    // Pairs with the fence in Group::more_room(), before owe(): owed_ | the task. And with light_fence in a submit that saw neither
    // room nor anybody parked: the word | the queues
    heavy_fence();
    bool refused = !g.closed() && !g.fill_up();
    if (!refused && Gate::places(g.gate.read()) != 0 && g.work_waits()) g.wake_one(1, &refused);
    if (refused) retry_at_ = after(kRetry);
}

}  // namespace hc
