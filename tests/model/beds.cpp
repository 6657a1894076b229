// Beds and permissions (src/group/gate.h): who may wake whom. Here without lanes and batches, so that many iterations are cheap.
#include "model.h"
//
#include "group/gate.h"
#include "stand_ins.h"

using namespace hc;
using namespace hc::model;

namespace {

template <int Threads, int Workers>
struct Beds : Model<Threads> {
    Gate gate;
    Atomic<uint64_t> beds[1];
    Parker parkers[Workers];
    Watch watch;
    Beds() { gate.start(beds, parkers, Workers, &watch); }

    // As Worker::park(): SEARCHING afterwards.
    template <class Look>
    void park(uint32_t i, bool searching, Look &&look) {
        gate.announce(i, searching);
        heavy_fence();
        if (look() && gate.cancel(i)) return;
        gate.sleep(i);
    }
    // Nobody sleeps, nobody searches, and no token is left.
    void after() override {
        CHECK(Gate::parked(gate.read()) == 0 && Gate::searching(gate.read()) == 0);
        CHECK(beds[0].load(memory_order_relaxed) == 0);
        for (Parker &p : parkers) {
            p.unpark();
            p.park();
        }
    }
};

// Each worker waits for its own letter: wake(i).
template <int kWorkers>
struct Letters : Beds<2 * kWorkers, kWorkers> {
    static constexpr int kLetters = 2;
    Atomic<int> letters[kWorkers];
    void thread(unsigned i) override {
        if (i < kWorkers) {
            for (int k = 1; k <= kLetters; k++) {
                letters[i].store(k, memory_order_relaxed);
                light_fence();
                this->gate.wake(i);
            }
            return;
        }
        const uint32_t w = i - kWorkers;
        const auto all = [&] { return letters[w].load(memory_order_relaxed) == kLetters; };
        bool searching = false;
        while (!all()) {
            this->park(w, searching, all);
            searching = true;
        }
        if (searching) this->gate.stop_searching();
    }
};

// One says to all of them that it is over, another has woken one just before: wake_all().
template <int kWorkers>
struct Over : Beds<kWorkers + 2, kWorkers> {
    Atomic<int> task;
    void thread(unsigned i) override {
        if (i == 0) {
            this->gate.raise(Gate::kClosed);
            heavy_fence();
            this->gate.raise(Gate::kSettled);
            this->gate.wake_all();
            return;
        }
        if (i == 1) {
            task.store(1, memory_order_relaxed);
            light_fence();
            this->gate.after_publish();
            return;
        }
        bool searching = false;
        while (!this->gate.has(Gate::kSettled)) {
            if (this->gate.closed()) {
                yield();
                continue;
            }
            this->park(i - 2, searching, [&] { return task.load(memory_order_relaxed) != 0 || this->gate.closed(); });
            searching = true;
        }
        if (searching) this->gate.stop_searching();
    }
};

// A searcher has found other work, which may take for ever, while a task is published that its submitter leaves to the
// searcher, and the only other worker falls asleep: hazard B. What found_work() is given to look with does not fence by itself.
struct Found : Beds<3, 2> {
    Atomic<int> task;
    Found() { gate.begin_search(1); }
    void thread(unsigned i) override {
        const auto look = [&] { return task.load(memory_order_relaxed) != 0; };
        if (i == 0) {
            task.store(1, memory_order_relaxed);
            light_fence();
            gate.after_publish();
        }
        if (i == 1) gate.found_work([&](uint32_t) { return look() ? 1u : 0u; }, [&](uint32_t n) { return gate.wake_one(n) == Gate::Wake::kWoken; });
        if (i == 2) {
            bool searching = false;
            while (!look()) {
                park(1, searching, look);
                searching = true;
            }
            if (searching) gate.stop_searching();
        }
    }
};

// What was done before a flag was raised is seen by whoever sees the flag.
struct Flags : Beds<2, 1> {
    Plain<int> data{0};
    void thread(unsigned i) override {
        if (i == 0) {
            data = 1;
            gate.raise(Gate::kSettled);
        } else if (gate.has(Gate::kSettled)) {
            CHECK(data == 1);
        }
    }
};

}  // namespace

int main() {
    bool ok = true;
    ok &= holds<Letters<1>>("letters for one", 50'000);
    ok &= holds<Letters<2>>("letters for two", 300'000);
    ok &= holds<Over<1>>("over for one", 50'000);
    ok &= holds<Over<2>>("over for two", 200'000);
    ok &= holds<Over<3>>("over for three", 100'000);
    ok &= holds<Found>("found", 20'000);
    ok &= holds<Flags>("flags", 50'000);
    return ok ? 0 : 1;
}
