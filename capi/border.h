// The border between the C ABI and the core: handles become classes, sized structs become values, results become codes.
// No exception crosses it; what a function promises stands in homecooking.h and nowhere else.
#pragma once
#include <cstddef>
#include <cstring>

#include "group/group.h"
#include "group/submit.h"
#include "group/tasks.h"
#include "homecooking/homecooking.h"

namespace hc::capi {

inline Group *of(hc_group *g) { return reinterpret_cast<Group *>(g); }
inline const Group *of(const hc_group *g) { return reinterpret_cast<const Group *>(g); }
inline hc_group *handle(Group *g) { return reinterpret_cast<hc_group *>(g); }

inline Task *of(hc_task *t) { return reinterpret_cast<Task *>(t); }
inline hc_task *handle(Task *t) { return reinterpret_cast<hc_task *>(t); }

inline int code(Submit s) {
    switch (s) {
        case Submit::kOk: return HC_OK;
        case Submit::kNoMemory: return HC_ENOMEM;
        case Submit::kFull: return HC_EFULL;
        case Submit::kClosed: return HC_ESHUTDOWN;
        case Submit::kForeign: return HC_EFORKED;
        case Submit::kNoThread: return HC_ETHREAD;
        case Submit::kTimedOut: return HC_ETIMEDOUT;
        case Submit::kWouldWait: return HC_EDEADLK;
    }
    return HC_EINVAL;
}

// Reads a sized struct of the caller's version into ours. `first` is the size in the first release. What the caller has
// and we have not must be zero; what we have and the caller has not, is. False: refuse.
template <class T>
bool read_sized(const T *in, size_t first, T *out) {
    uint32_t size;
    memcpy(&size, in, sizeof size);
    if (size < first) return false;
    const auto *bytes = reinterpret_cast<const unsigned char *>(in);
    for (size_t i = sizeof(T); i < size; i++)
        if (bytes[i] != 0) return false;
    memset(static_cast<void *>(out), 0, sizeof(T));
    memcpy(static_cast<void *>(out), in, size < sizeof(T) ? size : sizeof(T));
    return true;
}

inline bool read_task_options(const hc_task_options *in, TaskOptions *out) {
    hc_task_options o;
    if (in == nullptr || !read_sized(in, offsetof(hc_task_options, result), &o)) return false;
    if (o.fn == nullptr || (o.flags & ~(kWorkerOnly | kInterrupt)) != 0) return false;
    if (o.priority > HC_PRIORITY_LOW) return false;
    if (o.priority != HC_PRIORITY_NORMAL && (o.scope != nullptr || o.serial != nullptr || o.key_mode != 0)) return false;
    if (o.key_mode > HC_KEY_BOUND || (o.key != 0 && o.key_mode == 0) || (o.serial != nullptr && o.key_mode != 0)) return false;
    out->call = {o.fn, o.arg};
    out->drop = o.drop;
    out->label = o.label;
    out->result = o.result;
    out->result_drop = o.result_drop;
    out->flags = o.flags | ((o.flags & kInterrupt) != 0 ? kWorkerOnly : 0);
    out->run_limit = o.run_limit;
    out->queue_expiry = o.queue_expiry;
    out->priority = static_cast<Priority>(o.priority);
    out->order = {reinterpret_cast<Serial *>(o.serial), o.key, o.key_mode};
    out->scope = reinterpret_cast<Scope *>(o.scope);
    return true;
}

// May a task have that order in g?
inline int fits(Group *g, const Ordering &o) {
    if (o.serial != nullptr && o.serial->group != g) return HC_EINVAL;
    return o.mode == Ordering::kBound && g->options().kind != Kind::kPinned ? HC_ENOTSUP : HC_OK;
}

inline void init_sized(void *options, uint32_t size) {
    if (options == nullptr || size < sizeof size) return;
    memset(options, 0, size);
    memcpy(options, &size, sizeof size);
}

}  // namespace hc::capi
