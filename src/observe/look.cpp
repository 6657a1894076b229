#include "observe/look.h"

#include "group/group.h"
#include "group/scope.h"
#include "group/tasks.h"
#include "group/timers.h"
#include "memory/hooks.h"
#include "sync/clock.h"
#include "sync/signal.h"
#include "task/ticket.h"

namespace hc {
namespace {

constexpr uint64_t kPatience = 40'000'000;  // ns, for all stacks together
constexpr uint64_t kWhile = 2'000'000;      // ns, for the queue to grow

// The user's function, where an entry carries it.
uintptr_t fn_of(const Entry &e) {
    const bool ours = e.fn == run_task || e.fn == run_timer || e.fn == queue_timer || e.fn == Ticket::run || e.fn == Scope::run_next || e.fn == run_line;
    return ours ? 0 : reinterpret_cast<uintptr_t>(e.fn);
}

void look_at(Group &g, Worker &w, uint64_t now, WorkerLook *out) {
    const bool forks = w.seen.forks.load(memory_order_relaxed);
    const bool in_task = forks || w.batch().begun() > w.finished();
    *out = {};
    out->index = w.index();
    out->thread = w.seen.thread.load(memory_order_relaxed);
    out->doing = w.seen.rests.load(memory_order_relaxed) ? Doing::kResting
                 : in_task                               ? (w.blocked() ? Doing::kBlocked : Doing::kRunning)
                 : g.gate.sleeps(w.index())              ? Doing::kParked
                                                         : Doing::kSearching;
    if (!in_task) return;
    const uint64_t since = w.seen.since.load(memory_order_relaxed);
    Entry e;
    if (!forks && w.batch().current(&e)) out->fn = fn_of(e);
    out->forks = forks;
    out->label = w.seen.label.load(memory_order_relaxed);
    out->ns = now > since ? now - since : 0;
    out->asleep = thread_sleeps(out->thread);
}

}  // namespace

Look::~Look() { memory::destroy_array(workers, room_); }

bool Look::take(Group &g) {
    const uint64_t begin = now();
    stats = hc::stats(g);
    g.levels.each([&](Inbox &in) { (in.level == Priority::kHigh ? high : low) = in.box.queued(); });
    closed = g.closed();
    paused = g.gate.paused();
    const uint32_t made = g.roster.made();
    if (made != 0 && (workers = memory::make_array<WorkerLook>(made)) == nullptr) return false;
    room_ = made;
    for (uint32_t i = 0; i < made; i++) {
        Worker &w = g.roster.at(i);
        if (w.seen.thread.load(memory_order_relaxed) == 0) continue;
        WorkerLook &here = workers[n++];
        look_at(g, w, begin, &here);
        running += here.doing == Doing::kRunning || here.doing == Doing::kBlocked;
        blocked += here.doing == Doing::kBlocked;
        asleep += here.asleep || here.doing == Doing::kBlocked;
    }
    has_stacks = stack_handler() != nullptr && dump_signal() != 0;
    if (auto *stacks = has_stacks && n != 0 ? memory::make_array<StackOf>(n) : nullptr) {
        for (uint32_t i = 0; i < n; i++) stacks[i] = {workers[i].thread, WorkerLook::kFrames, workers[i].frames};
        take_stacks(stacks, n, begin + kPatience);
        for (uint32_t i = 0; i < n; i++) workers[i].stack = stacks[i];
        memory::destroy_array(stacks, n);
    }
    if (stats.queued != 0 && now() < begin + kWhile) {
        Parker bed;
        bed.park_until(begin + kWhile);
    }
    const uint64_t queued = hc::stats(g).queued;
    if (queued > stats.queued) grown = queued - stats.queued;
    return true;
}

// The first that holds.
const char *Look::diagnosis() const {
    if (closed && stats.queued == 0 && running == 0 && stats.workers == 0) return "it has ended";
    if (stats.queued == 0 && running == 0)
        return stats.timers_pending != 0 ? "idle: it waits for its timers" : paused ? "idle, and paused" : "idle";
    if (paused) return running != 0 ? "paused: what runs goes on, the rest waits for hc_group_resume()"
                                    : "paused: tasks wait for hc_group_resume()";
    if (stats.queued == 0) return closed ? "shut down: it waits for the tasks that run" : "tasks run, and none waits";
    if (stats.workers == 0) return "tasks wait, and no worker could be started";
    if (running != 0 && asleep == running && stats.parked + stats.searching == 0)
        return "stuck: all workers are blocked inside of their tasks, and tasks wait";
    if (stats.parked + stats.searching == 0)
        return grown != 0 ? "overloaded: all workers are busy, and the queue grows" : "all workers are busy, and tasks wait";
    return "tasks are being taken up";
}

}  // namespace hc
