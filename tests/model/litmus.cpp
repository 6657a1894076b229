// What the models stand on: the checker and our fences, held to small programs with known outcomes.
#include "model.h"

using namespace hc;
using namespace hc::model;

namespace {

enum Fence { kNone, kLight, kHeavy, kFull };
void fence(Fence f) {
    if (f == kLight) light_fence();
    if (f == kHeavy) heavy_fence();
    if (f == kFull) atomic_thread_fence(memory_order_seq_cst);
}

// Two threads that write and then look: do both miss the other?
template <Fence A, Fence B>
struct StoreBuffering : Model<2> {
    Atomic<int> x, y;
    int seen[2];
    void thread(unsigned i) override {
        (i == 0 ? x : y).store(1, memory_order_relaxed);
        fence(i == 0 ? A : B);
        seen[i] = (i == 0 ? y : x).load(memory_order_relaxed);
    }
    void after() override { CHECK(seen[0] || seen[1]); }
};

// Does the data come with the flag?
template <bool Ordered>
struct Message : Model<2> {
    Plain<int> data{0};
    Atomic<int> flag;
    void thread(unsigned i) override {
        if (i == 0) {
            data = 1;
            flag.store(1, Ordered ? memory_order_release : memory_order_relaxed);
        } else if (flag.load(Ordered ? memory_order_acquire : memory_order_relaxed) == 1) {
            CHECK(data == 1);
        }
    }
};

// A light fence is no fence for its own message.
struct LightMessage : Model<2> {
    Plain<int> data{0};
    Atomic<int> flag;
    void thread(unsigned i) override {
        if (i == 0) {
            data = 1;
            light_fence();
            flag.store(1, memory_order_relaxed);
        } else if (flag.load(memory_order_acquire) == 1) {
            CHECK(data == 1);
        }
    }
};

// A failed exchange acquires what its failure order says, and only then.
template <bool Ordered>
struct FailedExchange : Model<2> {
    Plain<int> data{0};
    Atomic<int> flag;
    void thread(unsigned i) override {
        if (i == 0) {
            data = 1;
            flag.store(1, memory_order_release);
        } else {
            int seen = 0;
            if (!flag.compare_exchange_strong(seen, 2, memory_order_relaxed,
                                              Ordered ? memory_order_acquire : memory_order_relaxed))
                CHECK(data == 1);
        }
    }
};

// One thread stands still between two steps while the other does many: found by priorities, not by coins.
struct StandStill : Model<2> {
    Atomic<int> x;
    void thread(unsigned i) override {
        if (i == 0)
            for (int k = 0; k < 40; k++) x.store(k, memory_order_relaxed);
        else {
            const int first = x.load(memory_order_acquire);
            const int second = x.load(memory_order_acquire);
            CHECK(first > 2 || second < 35);
        }
    }
};

struct Asleep : Model<2> {
    Condition never;
    void thread(unsigned i) override {
        if (i == 0) never.wait();
    }
};

}  // namespace

int main() {
    constexpr auto kLost = rl::test_result_user_assert_failed;
    constexpr auto kRace = rl::test_result_data_race;
    constexpr int n = 20'000;
    bool ok = true;
    ok &= holds<StoreBuffering<kLight, kHeavy>>("sb light heavy", n);
    ok &= holds<StoreBuffering<kHeavy, kHeavy>>("sb heavy heavy", n);
    ok &= holds<StoreBuffering<kFull, kFull>>("sb full full", n);
    ok &= holds<StoreBuffering<kFull, kHeavy>>("sb full heavy", n);
    ok &= fails<StoreBuffering<kNone, kNone>>("sb none none", kLost, n);
    ok &= fails<StoreBuffering<kNone, kHeavy>>("sb none heavy", kLost, n);
    ok &= fails<StoreBuffering<kLight, kNone>>("sb light none", kLost, n);
    ok &= fails<StoreBuffering<kLight, kLight>>("sb light light", kLost, n);
    ok &= fails<StoreBuffering<kLight, kFull>>("sb light full", kLost, n);
    ok &= holds<Message<true>>("message", n);
    ok &= fails<Message<false>>("message relaxed", kRace, n);
    ok &= fails<LightMessage>("message light", kRace, n);
    ok &= holds<FailedExchange<true>>("failed exchange", n);
    ok &= fails<FailedExchange<false>>("failed exchange relaxed", kRace, n);
    ok &= fails<StandStill>("stand still", kLost, n);
    ok &= fails<Asleep>("asleep", rl::test_result_deadlock, n);
    return ok ? 0 : 1;
}
