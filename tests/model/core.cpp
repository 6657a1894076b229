// What the sources of the core call and the models do not have: what a process has one of, with a lock that lives longer than an
// iteration. Weak: the reaper has a model of its own, which brings the real ones; limits have one without the rest of the core.
#include "group/group.h"
#include "group/registry.h"
#include "group/sentinel.h"
#include "group/sleepers.h"
#include "stand_ins.h"
namespace hc {

bool stops() { return false; }
Sleeper::Sleeper(Parker *bed, Pollable *also) : bed_(bed), also_(also) {}
Sleeper::~Sleeper() {}
[[gnu::weak]] void reaper_fork_child() {}
[[gnu::weak]] void Expiry::lower(Group *, uint64_t) {}
[[gnu::weak]] void Expiry::end() {}
void wake_sleepers(const void *) {}
bool sentinel_ring() { return true; }
void limits_stop() {}
void limits_forget(Deadlines &) {}
void limits_fork_child() {}
Limited::Limited(ThreadRecord *self, uint64_t ns, Task *, Timer *, bool) : self_(self), limit_(ns) {}
bool Limited::end() { return false; }
uint64_t Limited::ran() const { return 0; }
Undisturbed::Undisturbed() : self_(nullptr) {}
Undisturbed::~Undisturbed() {}
void sleepers_fork_child() {}
void Stuck::list(Group *g) {
    group_ = g;
    listed_.store(true, memory_order_relaxed);
}
bool Stuck::list_owed(Group *g) {
    group_ = g;
    retry_at_ = 0;
    return true;
}
void Stuck::end() {}
void sentinel_fork_child() {}

}  // namespace hc
