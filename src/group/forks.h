// Fork and join above the deque: who is woken for a fork, and what a join does while a thief has its frame.
#pragma once
#include "queue/deque.h"
namespace hc {

class Group;
struct ThreadRecord;

// Who waits looks for something to help with so many times; some microseconds: a sleep and a wake cost more.
#ifdef HC_SYNC_MODEL
constexpr int kTriesBeforeSleep = 2;
#else
constexpr int kTriesBeforeSleep = 100;
#endif

// The plain functions. Each takes and returns the place of the next fork.
Slot *fork_push(Slot *at, Frame *f, Frame::Fn fn, void *arg);
Slot *fork_notice(Slot *at);           // the second half of a push that was not quick
bool fork_take(Slot **at, Frame *f);   // true: the caller's again, to run or not; false: it has been run
Slot *fork_join(Slot *at, Frame *f);

bool ready_to_fork(Deque &d);  // false: no memory
bool can_help(Deque &mine);     // may its owner, which waits, run something on top? Not when half of the stack is used

// The watch is told of the next fork of d. Look after this, before you sleep; then d.unwatch().
void ask_for_forks(Deque &d, Deque::Watch *watch);

// A frame that was stolen runs on its thief's thread.
void run_fork(Deque &mine, Frame *f);

// The deque of the group that t runs a task of, if it has one in use.
Deque *forks_here(ThreadRecord *t);

// Where the calling thread's next fork goes; nullptr: it is in no task and has entered no group.
Slot *fork_place();

// A thread that is no worker enters a group, to fork there.
enum class Enter { kOk, kNoMemory, kClosed, kForeign };
Enter fork_enter(Group *g, Slot **at);
void fork_leave(Slot *at);

}  // namespace hc
