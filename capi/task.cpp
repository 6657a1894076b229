#include "capi/border.h"
#include "group/registry.h"
#include "group/scope.h"
#include "group/sleepers.h"
#include "group/tasks.h"
#include "task/home.h"

using namespace hc;
using namespace hc::capi;

static_assert(kWhyCanceled == HC_ECANCELED && kWhyFailed == HC_EFAILED && kWhyShutdown == HC_ESHUTDOWN &&
              kWhyNoMemory == HC_ENOMEM && kWhyDropped == HC_EDROPPED && kWhyExpired == HC_EEXPIRED && kWhyLimit == HC_ELIMIT);
static_assert(kWorkerOnly == HC_TASK_WORKER_ONLY && kInterrupt == HC_TASK_INTERRUPT);
static_assert(static_cast<int>(Priority::kHigh) == HC_PRIORITY_HIGH && static_cast<int>(Priority::kLow) == HC_PRIORITY_LOW);
static_assert(uint32_t{Ordering::kPlain} == HC_KEY_PLAIN && uint32_t{Ordering::kSticky} == HC_KEY_STICKY && uint32_t{Ordering::kBound} == HC_KEY_BOUND);
static_assert(kHelpAny == HC_WAIT_HELP_ANY && kNoHelp == HC_WAIT_NO_HELP && kInterruptible == HC_WAIT_INTERRUPTIBLE);

namespace {

// A task of a group of the parent process. Its end will never come.
bool foreign(Task *t) { return t->home->generation != registry::generation; }

Task *current() { return this_thread == nullptr ? nullptr : this_thread->now->task; }

int after_several(Task::Body body, hc_task *const *ts, size_t n, hc_task **out) {
    if (out == nullptr) return HC_EINVAL;
    *out = nullptr;
    if (ts == nullptr || n == 0 || n > UINT32_MAX) return HC_EINVAL;
    for (size_t i = 0; i < n; i++)
        if (ts[i] == nullptr) return HC_EINVAL;
    Task *t = nullptr;
    const Submit s = task_after(body, reinterpret_cast<Task *const *>(ts), n, &t);
    *out = handle(t);
    return code(s);
}

}  // namespace

extern "C" {

void hc_task_options_init(void *options, uint32_t size) { init_sized(options, size); }

int hc_task_submit(hc_group *g, const hc_task_options *options, hc_task **out) {
    if (out != nullptr) *out = nullptr;
    TaskOptions o;
    if (g == nullptr || !read_task_options(options, &o)) return HC_EINVAL;
    if (out == nullptr && (o.result != nullptr || o.result_drop != nullptr)) return HC_EINVAL;
    if (of(g)->foreign()) return HC_EFORKED;
    if (const int no = fits(of(g), o.order)) return no;
    if (o.scope != nullptr) {
        if (out != nullptr || o.flags != 0 || o.scope->group() != of(g)) return HC_EINVAL;
        bool cancelled = false;
        const int answer = code(o.scope->submit(o, &cancelled));
        return cancelled ? HC_ECANCELED : answer;
    }
    if (out != nullptr || o.flags != 0) {
        Task *t = nullptr;
        const int answer = code(submit_task(of(g), o, &t));
        if (out != nullptr)
            *out = handle(t);
        else if (answer == HC_OK)
            task_unref(t);
        return answer;
    }
    const uint64_t limits = or_of_group(o.run_limit, of(g)->options().run_limit) & or_of_group(o.queue_expiry, of(g)->options().queue_expiry);
    if (o.drop == nullptr && o.label == nullptr && limits == kNever)
        return code(o.order ? submit_in_order(of(g), o.order, o.call) : submit_at(of(g), o.call, o.priority));
    return code(submit_ticket(of(g), o));
}

const char *hc_task_label(void) { return this_thread == nullptr ? nullptr : this_thread->now->label; }

void hc_task_ref(hc_task *t) {
    if (t == nullptr) return;
    // The handles together hold one reference; the winner of an hc_task_any() may have none left.
    if (of(t)->handles.fetch_add(1, memory_order_relaxed) == 0) of(t)->ref();
}

void hc_task_unref(hc_task *t) {
    if (t != nullptr && !foreign(of(t))) task_unref(of(t));
}

int hc_task_wait(hc_task *t, uint64_t timeout, uint32_t flags, int32_t *outcome) {
    if (t == nullptr || flags > 7 || (flags & 3) == 3) return HC_EINVAL;
    if (foreign(of(t))) return HC_EFORKED;
    switch (wait_for_task(of(t), timeout == HC_NEVER ? kNever : timeout, flags)) {
        case Waited::kDone: break;
        case Waited::kTimedOut: return foreign(of(t)) ? HC_EFORKED : HC_ETIMEDOUT;
        case Waited::kDeadlock: return HC_EDEADLK;
        case Waited::kInterrupted: return HC_EINTR;
        case Waited::kStopped: return HC_ECANCELED;
    }
    if (outcome != nullptr) *outcome = of(t)->outcome;
    return HC_OK;
}

int hc_task_result(hc_task *t, void **result) {
    if (t == nullptr || result == nullptr) return HC_EINVAL;
    if (!of(t)->ended()) return HC_EBUSY;
    const bool winner = of(t)->body == Task::Body::kAny && of(t)->result != nullptr;
    if (of(t)->outcome != 0 && !winner) return HC_EFAILED;
    *result = of(t)->result;
    return HC_OK;
}

int hc_task_error(hc_task *t, int32_t *code, void **payload) {
    if (t == nullptr) return HC_EINVAL;
    if (!of(t)->ended()) return HC_EBUSY;
    const Failure &f = of(t)->failure;
    if (code != nullptr) *code = f.set ? f.code : of(t)->outcome;
    if (payload != nullptr) *payload = f.payload;
    return HC_OK;
}

int hc_task_cancel(hc_task *t) {
    if (t == nullptr) return HC_EINVAL;
    if (foreign(of(t))) return HC_EFORKED;
    const Task::State was = task_cancel(of(t));
    return was == Task::kQueued ? HC_REMOVED : was == Task::kRunning ? HC_RUNNING : HC_DONE;
}

int hc_task_cancel_wait(hc_task *t, uint64_t timeout) {
    const int answer = hc_task_cancel(t);
    if (answer != HC_RUNNING) return answer;
    const int waited = hc_task_wait(t, timeout, 0, nullptr);
    return waited == HC_OK ? HC_DONE : waited;
}

hc_task *hc_task_current(void) {
    Task *t = current();
    return t == nullptr || t->scope != nullptr ? nullptr : handle(t);
}

int hc_task_cancelled(void) {
    return stops() ? 1 : 0;
}

int hc_task_fail(int32_t code, void *payload, hc_fn payload_drop) {
    Task *t = current();
    if (t == nullptr) return HC_EINVAL;
    Failure f{code, payload, payload_drop, true};
    {
        Locked l(t->home->lock);  // its forks may run on several threads
        if (!t->failure.set) f = std::exchange(t->failure, f);
    }
    f.release();
    return HC_OK;
}

int hc_task_then(hc_task *t, const hc_task_options *options, hc_task **out) {
    if (out != nullptr) *out = nullptr;
    TaskOptions o;
    if (t == nullptr || !read_task_options(options, &o)) return HC_EINVAL;
    if (out == nullptr && (o.result != nullptr || o.result_drop != nullptr)) return HC_EINVAL;
    if (o.scope != nullptr) return HC_EINVAL;
    if (foreign(of(t))) return HC_EFORKED;
    {
        GroupPin g(of(t)->home);
        const int no = g.get() == nullptr ? HC_OK : fits(g.get(), o.order);
        if (no != HC_OK) return no;
    }
    Task *after = nullptr;
    const int answer = code(task_then(of(t), o, out == nullptr ? nullptr : &after));
    if (out != nullptr) *out = handle(after);
    return answer;
}

int hc_task_all(hc_task *const *ts, size_t n, hc_task **out) { return after_several(Task::Body::kAll, ts, n, out); }
int hc_task_any(hc_task *const *ts, size_t n, hc_task **out) { return after_several(Task::Body::kAny, ts, n, out); }

int hc_task_promise(hc_group *g, hc_task **out) {
    if (out == nullptr) return HC_EINVAL;
    *out = nullptr;
    if (g == nullptr) return HC_EINVAL;
    Task *t = nullptr;
    const int answer = code(task_promise(of(g), &t));
    *out = handle(t);
    return answer;
}

int hc_task_complete(hc_task *promise, int32_t outcome, void *result, hc_fn result_drop) {
    if (promise == nullptr || outcome > 0 || of(promise)->body != Task::Body::kPromise) return HC_EINVAL;
    if (foreign(of(promise))) return HC_EFORKED;
    return task_complete(of(promise), outcome, result, result_drop) ? HC_OK : HC_EBUSY;
}

}  // extern "C"
