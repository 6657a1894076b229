#include "memory/hooks.h"

#include <cstdlib>

#include "sync/errno.h"
#include "sync/mutex.h"

namespace hc::memory {
namespace {

void *default_alloc(size_t size, size_t align, void *) {
    KeepErrno keep;
    void *p = nullptr;
    return posix_memalign(&p, align < sizeof(void *) ? sizeof(void *) : align, size) == 0 ? p : nullptr;
}
void default_free(void *p, size_t, size_t, void *) { free(p); }

struct Hooks {
    Alloc alloc = default_alloc;
    Free free = default_free;
    void *user = nullptr;
};
Hooks hooks;  // written only until frozen, and before any other thread can allocate
bool frozen = false;
Mutex lock;  // guards `frozen` and the writes to `hooks`

}  // namespace

bool set_hooks(Alloc alloc, Free free, void *user) {
    Locked l(lock);
    if (frozen) return false;
    hooks = alloc == nullptr ? Hooks{} : Hooks{alloc, free, user};
    return true;
}

void freeze_hooks() {
    Locked l(lock);
    frozen = true;
}

void fork_child() { new (&lock) Mutex; }

void *allocate(size_t size, size_t align) noexcept { return hooks.alloc(size, align, hooks.user); }
void release(void *p, size_t size, size_t align) noexcept { hooks.free(p, size, align, hooks.user); }

}  // namespace hc::memory
