// The process's threads and groups: who has an outbox where, what the end of a thread hands back, and what a fork cuts.
#pragma once
#include "group/outbox.h"
#include "sync/mutex.h"
namespace hc::registry {

// Called for each creation of a group. False: the system has no thread-specific key left.
bool setup();

// How many forks lie between the first process and this one. A group born in another generation belongs to the parent.
extern uint32_t generation;

extern Mutex lock;

ThreadRecord *record();  // the caller's, made at its first call; nullptr: no memory

// A worker's record is made with its group, so that no worker is ever without one.
void adopt(ThreadRecord *made);  // by the worker, at its start
void retire();                   // by the worker, at its end: hands back what it held, frees the record

// The caller's outbox in g, bound now if it was not. nullptr: no memory, or *closed.
Outbox *bind(Group *g, bool *closed);

// Under `lock`, at the end of a group that nobody uses any more.
void cut(Outbox *outbox);

}  // namespace hc::registry
