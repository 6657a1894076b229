#include "group/blocking.h"

#include "group/group.h"
#include "group/outbox.h"

namespace hc {

bool blocking_begin() {
    ThreadRecord *t = this_thread;
    if (t == nullptr || t->self == nullptr || t->now->group == nullptr) return false;
    if (t->blocking++ == 0) t->helped = t->self->block();
    return t->helped;
}

void blocking_end() {
    ThreadRecord *t = this_thread;
    if (t == nullptr || t->blocking == 0 || --t->blocking != 0) return;
    t->self->unblock();
}

}  // namespace hc
