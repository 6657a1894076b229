// How a callback of a group is called on whatever thread.
#pragma once
#include "group/group.h"
#include "group/registry.h"
namespace hc {

// g == nullptr: the group has ended. False: the callback has forked, and this is the child.
template <class Callback>
bool in_callback(Group *g, Callback &&callback) {
    if (g == nullptr || (this_thread != nullptr && this_thread->now->group == g)) {
        callback();
        return g == nullptr || !g->foreign();
    }
    registry::Call call(g);
    registry::Borrowed context(g);
    callback();
    return !g->foreign();
}

}  // namespace hc
