#include <algorithm>

#include "capi/border.h"
#include "group/keys.h"
#include "group/registry.h"
#include "sync/clock.h"
#include "sync/cpus.h"

using namespace hc;
using namespace hc::capi;

namespace {

// What every waiting call refuses before it waits.
int cannot_wait(const hc_group *g) {
    if (g == nullptr) return HC_EINVAL;
    if (of(g)->foreign()) return HC_EFORKED;
    return registry::inside(of(g)) ? HC_EDEADLK : HC_OK;
}

uint64_t deadline(uint64_t timeout) { return timeout == HC_NEVER ? kNever : after(timeout); }

uint64_t or_default(uint64_t given, uint64_t by_default) { return given == 0 ? by_default : given; }

// HC_KIND_PINNED has all its workers, and no others: each has tasks of its own.
bool read_workers(const hc_group_options &in, GroupOptions *out) {
    constexpr uint32_t kSpares = 64;
    const bool pinned = in.kind == HC_KIND_PINNED;
    if (in.max_workers > HC_MAX_WORKERS || in.cpu_count > HC_MAX_WORKERS) return false;
    if (in.max_workers != 0)
        out->most = in.max_workers;
    else if (in.cpu_count != 0)
        out->most = in.cpu_count;
    else
        out->most = std::min((out->found = find_cpus()).count, HC_MAX_WORKERS);
    out->least = in.min_workers == 0 ? (pinned ? out->most : 1) : in.min_workers == HC_NONE32 ? 0 : in.min_workers;
    if (out->least > out->most || (pinned && out->least != out->most)) return false;
    out->spares = in.spare_workers == 0 ? (pinned || in.max_workers == 1 ? 0 : kSpares)
                  : in.spare_workers == HC_NONE32 ? 0
                                                  : in.spare_workers;
    if (out->spares > HC_MAX_WORKERS || (pinned && out->spares != 0)) return false;
    if (out->spares == 0 && in.stuck_after != 0 && in.stuck_after != HC_NONE64) return false;  // nobody could be had for it
    out->keep_alive = or_default(in.keep_alive, out->keep_alive);
    out->stuck_after = or_default(in.stuck_after, out->stuck_after);
    if ((in.cpus == nullptr) != (in.cpu_count == 0)) return false;
    out->cpus = in.cpus;
    out->cpu_count = in.cpu_count;
    for (uint32_t i = 0; i < in.cpu_count; i++)
        if (!thread_may_run_on(in.cpus[i])) return false;
    return true;
}

int read_options(const hc_group_options *in, GroupOptions *out) {
    hc_group_options o;
    if (!read_sized(in, offsetof(hc_group_options, run_limit), &o)) return HC_EINVAL;
    if (o.flags != 0 || o.reserved != 0 || o.kind > HC_KIND_PINNED || !read_workers(o, out)) return HC_EINVAL;
    if (o.full_policy > HC_FULL_DROP_OLDEST) return HC_EINVAL;
    if (o.full_policy != HC_FULL_FAIL && o.capacity == 0) return HC_EINVAL;  // it would never be full
    if (o.full_policy != HC_FULL_WAIT && o.full_timeout != 0) return HC_EINVAL;
    if (o.stack_size != 0 && (o.stack_size < 65'536 || o.stack_size > SIZE_MAX / 2)) return HC_EINVAL;
    if (o.name != nullptr) out->name = o.name;
    out->kind = static_cast<Kind>(o.kind);
    out->capacity = o.capacity;
    out->full = static_cast<Full>(o.full_policy);
    out->full_timeout = or_default(o.full_timeout, kNever);
    if (o.spin != 0) out->spin_ns = o.spin == HC_NONE32 ? 0 : o.spin;
    out->stack_size = static_cast<size_t>(o.stack_size);
    out->user = o.user;
    out->on_thread_start = o.on_thread_start;
    out->on_thread_stop = o.on_thread_stop;
    out->on_unrun = o.on_unrun;
    out->run_limit = or_default(o.run_limit, kNever);
    out->queue_expiry = or_default(o.queue_expiry, kNever);
    out->on_limit = o.on_limit;
    return HC_OK;
}

}  // namespace

extern "C" {

void hc_group_options_init(void *options, uint32_t size) { init_sized(options, size); }

int hc_group_create(hc_group **out, const hc_group_options *options) {
    if (out == nullptr) return HC_EINVAL;
    *out = nullptr;
    GroupOptions o;
    const hc_group_options defaults = HC_GROUP_OPTIONS_INIT;
    if (const int bad = read_options(options == nullptr ? &defaults : options, &o)) return bad;
    Group *g = nullptr;
    switch (Group::create(&g, o)) {
        case Group::Create::kOk: break;
        case Group::Create::kNoMemory: return HC_ENOMEM;
        case Group::Create::kNoThread: return HC_ETHREAD;
    }
    *out = handle(g);
    return HC_OK;
}

void hc_group_ref(hc_group *g) {
    if (g != nullptr && !of(g)->foreign()) of(g)->ref();
}

void hc_group_unref(hc_group *g) {
    if (g == nullptr || of(g)->foreign()) return;
    registry::unref(of(g));
}

int hc_group_shutdown(hc_group *g, uint32_t how) {
    if (g == nullptr || how > HC_SHUTDOWN_RUN_TIMERS) return HC_EINVAL;
    if (of(g)->foreign()) return HC_EFORKED;
    registry::Call call(of(g));
    of(g)->shutdown(how == HC_SHUTDOWN_NOW, how == HC_SHUTDOWN_RUN_TIMERS);
    return HC_OK;
}

int hc_group_drain(hc_group *g, uint64_t timeout) {
    if (const int no = cannot_wait(g)) return no;
    return of(g)->drain(deadline(timeout)) ? HC_OK : HC_ETIMEDOUT;
}

int hc_group_await(hc_group *g, uint64_t timeout) {
    if (const int no = cannot_wait(g)) return no;
    registry::Call call(of(g));
    if (of(g)->await(deadline(timeout))) return HC_OK;
    return of(g)->foreign() ? HC_EFORKED : HC_ETIMEDOUT;  // a drop has forked
}

int hc_group_destroy(hc_group *g) {
    if (g == nullptr) return HC_EINVAL;
    if (of(g)->foreign()) return HC_EFORKED;
    registry::Call call(of(g));
    if (!of(g)->closed()) of(g)->shutdown(false);
    if (!registry::inside(of(g)) && !of(g)->await(kNever)) return HC_EFORKED;  // a drop has forked
    registry::unref(of(g));
    return HC_OK;
}

int hc_group_resize(hc_group *g, uint32_t min_workers, uint32_t max_workers) {
    if (g == nullptr) return HC_EINVAL;
    const uint32_t most = max_workers != 0 ? max_workers : std::min(usable_cpus(), hc_group_slots(g));
    const uint32_t least = min_workers == 0 ? 1 : min_workers == HC_NONE32 ? 0 : min_workers;
    if (most > hc_group_slots(g) || least > most) return HC_EINVAL;
    if (of(g)->foreign()) return HC_EFORKED;
    if (of(g)->options().kind == Kind::kPinned) return HC_ENOTSUP;
    if (of(g)->closed()) return HC_ESHUTDOWN;
    of(g)->resize(least, most);
    return HC_OK;
}

int hc_group_pause(hc_group *g) {
    if (g == nullptr) return HC_EINVAL;
    if (of(g)->foreign()) return HC_EFORKED;
    return of(g)->pause() ? HC_OK : HC_ESHUTDOWN;
}

int hc_group_resume(hc_group *g) {
    if (g == nullptr) return HC_EINVAL;
    if (of(g)->foreign()) return HC_EFORKED;
    return of(g)->resume() ? HC_OK : HC_ESHUTDOWN;
}

int hc_group_trim(hc_group *g) {
    if (g == nullptr) return HC_EINVAL;
    if (of(g)->foreign()) return HC_EFORKED;
    of(g)->rings.trim();
    of(g)->timers.trim();
    // acquire: pairs with the release in keys_of()
    if (Keys *keys = of(g)->keys.load(memory_order_acquire))
        keys->each([](LineShard &s) {
            Locked l(s.lock);
            s.trim();
        });
    of(g)->each_box([](Outbox &o) {
        o.tickets.trim();
        if (Home *home = o.home.load(memory_order_acquire)) home->trim();  // pairs with the release in make()
    });
    return HC_OK;
}

hc_group *hc_group_current(void) { return this_thread == nullptr ? nullptr : handle(this_thread->now->group); }

int32_t hc_worker_index(void) {
    const Worker *w = this_thread == nullptr ? nullptr : this_thread->now->worker;
    return w == nullptr ? -1 : static_cast<int32_t>(w->index());
}

uint32_t hc_group_slots(const hc_group *g) { return g == nullptr ? 0 : of(g)->roster.slots(); }

int hc_thread_sigmask_restore(void) {
    const sigset_t *mask = registry::mask_of_forking_task();
    if (this_thread != nullptr && this_thread->self != nullptr) mask = &this_thread->self->group().creator_signals();
    if (mask == nullptr) return HC_EINVAL;
    thread_set_signals(*mask);
    return HC_OK;
}

}  // extern "C"
