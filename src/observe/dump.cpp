#include "observe/dump.h"

#include "group/group.h"
#include "observe/look.h"
#include "observe/page.h"
#include "observe/symbol.h"

namespace hc {
namespace {

constexpr const char *kDoing[] = {"running", "blocked", "searching", "parked", "resting", "gone"};
constexpr const char *kCpusFrom[] = {"options", "affinity", "online", "quota", "environment"};

const char *doing(const WorkerLook &w) { return kDoing[static_cast<uint32_t>(w.doing)]; }
bool in_task(const WorkerLook &w) { return w.doing == Doing::kRunning || w.doing == Doing::kBlocked; }

// nullptr: there are frames.
const char *no_stack(const Look &look, const WorkerLook &w) {
    if (!look.has_stacks) return stack_handler() == nullptr ? "no libunwind" : "no signal lent, see hc_signal_set()";
    switch (w.stack.result) {
        case Stack::kTaken: return nullptr;
        case Stack::kNoAnswer: return "no answer";
        case Stack::kUnsupported: return "the signal was taken back";
    }
    return "no answer";
}

const char *task(const WorkerLook &w, char *name, size_t size) {
    if (w.fn == 0) return w.forks ? "a fork" : "a task";
    symbol(w.fn, name, size);
    return name;
}

void text(const Group &g, const Look &look, Page &page) {
    const Stats &s = look.stats;
    page.add("group \"");
    page.add(g.options().name);
    page.print("\": %s\n", look.diagnosis());
    page.print("  workers: %u, at most %u (from %s), %u parked, %u searching, %u blocked\n", s.workers, s.most,
               kCpusFrom[static_cast<uint32_t>(s.cpus.from)], s.parked, s.searching, s.blocked);
    page.print("  tasks: %llu queued (%llu high, %llu low), %llu submitted, %llu finished, %llu not run\n",
               static_cast<unsigned long long>(s.queued), static_cast<unsigned long long>(look.high),
               static_cast<unsigned long long>(look.low), static_cast<unsigned long long>(s.submitted),
               static_cast<unsigned long long>(s.finished), static_cast<unsigned long long>(s.unrun));
    page.print("  timers: %llu pending, %llu fired\n", static_cast<unsigned long long>(s.timers_pending),
               static_cast<unsigned long long>(s.timers_fired));
    for (uint32_t i = 0; i < look.n; i++) {
        const WorkerLook &w = look.workers[i];
        char name[256];
        page.print("  worker %u (thread %d): %s", w.index, w.thread, doing(w));
        if (in_task(w)) {
            page.print(" %s", task(w, name, sizeof name));
            if (w.label != nullptr) {
                page.add(" \"");
                page.add(w.label);
                page.add("\"");
            }
            page.print(" for %.3f s%s", static_cast<double>(w.ns) * 1e-9, w.asleep ? ", asleep" : "");
        }
        page.add("\n");
        if (const char *why = no_stack(look, w)) {
            page.print("      no stack: %s\n", why);
            continue;
        }
        for (uint32_t k = 0; k < w.stack.n; k++) {
            symbol(w.frames[k], name, sizeof name);
            page.print("      #%u %s\n", k, name);
        }
        if (w.stack.cut) page.add("      ...\n");
    }
}

void json(const Group &g, const Look &look, Page &page) {
    const Stats &s = look.stats;
    const auto number = [&](const char *key, uint64_t value) {
        page.print("\"%s\":%llu,", key, static_cast<unsigned long long>(value));
    };
    page.add("{\"group\":");
    page.quoted(g.options().name);
    page.add(",\"diagnosis\":");
    page.quoted(look.diagnosis());
    page.print(",\"closed\":%s,\"paused\":%s,", look.closed ? "true" : "false", look.paused ? "true" : "false");
    number("workers_alive", s.workers);
    number("workers_max", s.most);
    page.print("\"workers_max_from\":\"%s\",", kCpusFrom[static_cast<uint32_t>(s.cpus.from)]);
    number("workers_parked", s.parked);
    number("workers_searching", s.searching);
    number("workers_blocked", s.blocked);
    number("queued", s.queued);
    number("queued_high", look.high);
    number("queued_low", look.low);
    number("submitted", s.submitted);
    number("finished", s.finished);
    number("unrun", s.unrun);
    number("timers_pending", s.timers_pending);
    number("timers_fired", s.timers_fired);
    page.add("\"workers\":[");
    for (uint32_t i = 0; i < look.n; i++) {
        const WorkerLook &w = look.workers[i];
        char name[256];
        page.print("%s{\"index\":%u,\"thread\":%d,\"state\":\"%s\"", i == 0 ? "" : ",", w.index, w.thread, doing(w));
        if (in_task(w)) {
            page.add(",\"task\":");
            page.quoted(task(w, name, sizeof name));
            page.add(",\"label\":");
            page.quoted(w.label);
            page.print(",\"ns\":%llu,\"asleep\":%s", static_cast<unsigned long long>(w.ns), w.asleep ? "true" : "false");
        }
        if (const char *why = no_stack(look, w)) {
            page.add(",\"no_stack\":");
            page.quoted(why);
        } else {
            page.add(",\"stack\":[");
            for (uint32_t k = 0; k < w.stack.n; k++) {
                symbol(w.frames[k], name, sizeof name);
                if (k != 0) page.add(",");
                page.quoted(name);
            }
            page.print("],\"cut\":%s", w.stack.cut ? "true" : "false");
        }
        page.add("}");
    }
    page.add("]}\n");
}

}  // namespace

Dumped dump(Group &g, DumpFormat format, Write write, void *user) {
    Look look;
    if (!look.take(g)) return Dumped::kNoMemory;
    Page page(write, user);
    if (format == DumpFormat::kJson)
        json(g, look, page);
    else
        text(g, look, page);
    return page.flush() ? Dumped::kOk : Dumped::kStopped;
}

}  // namespace hc
