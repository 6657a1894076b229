// How a ticket runs: out of its record first, which another submit may use at once, then with its label in view.
#include <utility>

#include "group/registry.h"
#include "task/ticket.h"

namespace hc {

void Ticket::run(void *ticket) {
    auto *t = static_cast<Ticket *>(ticket);
    const auto fn = t->fn;
    void *arg = t->arg;
    const char *label = t->label;
    const bool ours = t->claim();
    t->home->give(t);
    if (!ours) return;
    ThreadRecord *self = this_thread;
    if (self == nullptr) return fn(arg);
    Context like = *self->now;
    like.label = label;
    const registry::Within within(self, like);
    fn(arg);
}

}  // namespace hc
