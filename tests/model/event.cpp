// The event (src/sync/event.h): who waits for a change is told of it, however it falls in between.
#include "model.h"
//
#include "stand_ins.h"
#include "sync/event.h"

using namespace hc;
using namespace hc::model;

namespace {

// The condition is relaxed: the event's own fences must be enough.
template <int kWaiters, int kChanges, bool kTimed>
struct Waiting : Model<kWaiters + 1> {
    Event event;
    Atomic<int> state;
    void thread(unsigned i) override {
        if (i == 0)
            for (int k = 1; k <= kChanges; k++) {
                state.store(k, memory_order_relaxed);
                event.signal();
            }
        else
            wait();
    }
    void wait() {
        for (;;) {
            const uint32_t ticket = event.prepare();
            const bool done = state.load(memory_order_relaxed) == kChanges;
            const bool in_time = done || event.wait(ticket, kTimed ? 1 : kNever);
            event.done();
            if (done || !in_time) return;
        }
    }
    void after() override { CHECK(!event.awaited()); }
};

// Both wait for a different thing, both signal.
struct Crossed : Model<2> {
    Event event;
    Atomic<int> done[2];
    void thread(unsigned i) override {
        done[i].store(1, memory_order_relaxed);
        event.signal();
        for (;;) {
            const uint32_t ticket = event.prepare();
            const bool both = done[1 - i].load(memory_order_relaxed) != 0;
            if (!both) event.wait(ticket, kNever);
            event.done();
            if (both) return;
        }
    }
};

}  // namespace

int main() {
    bool ok = true;
    ok &= holds<Waiting<1, 1, false>>("one", 200'000);
    ok &= holds<Waiting<2, 1, false>>("two", 200'000);
    ok &= holds<Waiting<1, 3, false>>("three changes", 200'000);
    ok &= holds<Waiting<2, 2, true>>("deadlines", 200'000);
    ok &= holds<Crossed>("crossed", 200'000);
    return ok ? 0 : 1;
}
