#include "capi/border.h"
#include "group/registry.h"
#include "sync/clock.h"

using namespace hc;
using namespace hc::capi;

static_assert(static_cast<int>(Repeat::kRate) == HC_TIMER_RATE && static_cast<int>(Repeat::kDelay) == HC_TIMER_DELAY);
static_assert(static_cast<int>(Missed::kBurst) == HC_MISSED_BURST && static_cast<int>(Missed::kSkip) == HC_MISSED_SKIP);

namespace {

Timer *of(hc_timer *t) { return reinterpret_cast<Timer *>(t); }

// A timer of a group of the parent process. Its lock may be held for ever.
bool foreign(hc_timer *t) { return of(t)->shard->generation != registry::generation; }

int code(TimerWas was) {
    switch (was) {
        case TimerWas::kPending: return HC_REMOVED;
        case TimerWas::kRunning: return HC_RUNNING;
        case TimerWas::kDone: return HC_DONE;
        case TimerWas::kEnded: return HC_ECANCELED;
        case TimerWas::kNoMemory: return HC_ENOMEM;
        case TimerWas::kClosed: return HC_ESHUTDOWN;
        case TimerWas::kNotPeriodic: break;
    }
    return HC_EINVAL;
}

uint64_t sum(uint64_t a, uint64_t b) { return b > UINT64_MAX - a ? UINT64_MAX : a + b; }

bool read_options(const hc_timer_options *in, uint64_t at, TimerOptions *out) {
    hc_timer_options o;
    TaskOptions task;
    if (in == nullptr || !read_sized(in, sizeof(hc_timer_options), &o)) return false;
    if (!read_task_options(o.task, &task) || task.result != nullptr || task.result_drop != nullptr) return false;
    if (task.queue_expiry != 0 && task.queue_expiry != HC_NONE64) return false;  // when it is due it is not queued
    if (task.priority != Priority::kNormal || task.order.serial != nullptr || task.scope != nullptr) return false;
    if (o.flags != 0 || o.mode > HC_TIMER_DELAY || o.missed > HC_MISSED_SKIP) return false;
    if ((o.mode == HC_TIMER_ONCE) != (o.period == 0)) return false;
    if (o.mode != HC_TIMER_RATE && o.missed != 0) return false;
    if (o.delay != 0 && o.when != 0) return false;
    out->call = task.call;
    out->drop = task.drop;
    out->label = task.label;
    out->run_limit = task.run_limit;
    out->interrupt = (task.flags & kInterrupt) != 0;
    out->order = task.order;
    out->when = o.when != 0 ? o.when : sum(at, o.delay);
    out->period = o.period;
    out->leeway = o.leeway;
    out->repeat = static_cast<Repeat>(o.mode);
    out->policy = static_cast<Missed>(o.missed);
    return true;
}

int arm(hc_timer *t, uint64_t when, uint64_t period, uint64_t at) { return code(timer_arm(of(t), when, period, at)); }

bool in_body_of(hc_timer *t) {
    if (this_thread != nullptr)
        for (const Context *c = this_thread->now; c != nullptr; c = c->outer)
            if (c->timer == of(t)) return true;
    return false;
}

}  // namespace

extern "C" {

int hc_schedule(hc_group *g, hc_fn fn, void *arg, uint64_t delay) {
    if (g == nullptr || fn == nullptr) return HC_EINVAL;
    const uint64_t at = now();
    return code(schedule(of(g), {fn, arg}, sum(at, delay), at));
}

int hc_schedule_at(hc_group *g, hc_fn fn, void *arg, uint64_t when) {
    if (g == nullptr || fn == nullptr) return HC_EINVAL;
    return code(schedule(of(g), {fn, arg}, when, now()));
}

void hc_timer_options_init(void *options, uint32_t size) { init_sized(options, size); }

int hc_timer_create(hc_group *g, const hc_timer_options *options, hc_timer **out) {
    if (out != nullptr) *out = nullptr;
    const uint64_t at = now();
    TimerOptions o;
    if (g == nullptr || !read_options(options, at, &o)) return HC_EINVAL;
    if (capi::of(g)->foreign()) return HC_EFORKED;
    if (const int no = fits(capi::of(g), o.order)) return no;
    if (out == nullptr && o.when == HC_NEVER) return HC_EINVAL;  // nobody could ever arm it
    return code(timer_make(of(g), o, at, reinterpret_cast<Timer **>(out)));
}

void hc_timer_ref(hc_timer *t) {
    if (t != nullptr && !foreign(t)) timer_ref(of(t));
}

void hc_timer_unref(hc_timer *t) {
    if (t != nullptr && !foreign(t)) timer_unref(of(t));
}

int hc_timer_arm(hc_timer *t, uint64_t delay, uint64_t period) {
    if (t == nullptr) return HC_EINVAL;
    if (foreign(t)) return HC_EFORKED;
    const uint64_t at = now();
    return arm(t, sum(at, delay), period, at);
}

int hc_timer_arm_at(hc_timer *t, uint64_t when, uint64_t period) {
    if (t == nullptr) return HC_EINVAL;
    return foreign(t) ? HC_EFORKED : arm(t, when, period, now());
}

int hc_timer_cancel(hc_timer *t) {
    if (t == nullptr) return HC_EINVAL;
    return foreign(t) ? HC_EFORKED : code(timer_cancel(of(t)));
}

int hc_timer_cancel_wait(hc_timer *t, uint64_t timeout) {
    if (t == nullptr) return HC_EINVAL;
    if (foreign(t)) return HC_EFORKED;
    if (in_body_of(t)) return HC_EDEADLK;
    const TimerWas was = timer_cancel(of(t));
    if (timer_wait(of(t), after(timeout))) return was == TimerWas::kPending ? HC_REMOVED : HC_DONE;
    return foreign(t) ? HC_EFORKED : HC_ETIMEDOUT;
}

int hc_timer_remaining(hc_timer *t, uint64_t *ns) {
    if (t == nullptr || ns == nullptr) return HC_EINVAL;
    if (foreign(t)) return HC_EFORKED;
    const uint64_t due = timer_due(of(t)), at = now();
    *ns = due == UINT64_MAX ? HC_NEVER : due > at ? due - at : 0;
    return HC_OK;
}

int hc_timer_missed(hc_timer *t, uint64_t *count) {
    if (t == nullptr || count == nullptr) return HC_EINVAL;
    if (foreign(t)) return HC_EFORKED;
    *count = timer_missed(of(t));
    return HC_OK;
}

}  // extern "C"
