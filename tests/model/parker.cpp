// The parker (src/sync/parker.h) over a futex that wakes up for no reason.
#include "model.h"
//
#include "stand_ins.h"
#include "sync/parker.h"

using namespace hc;
using namespace hc::model;

namespace {

// Each unpark belongs to one park, in any order, and brings what was done before it.
struct Rounds : Model<2> {
    Parker parker;
    Plain<int> data{0};
    Atomic<int> ready;  // the owner's: it is about to park once more
    void thread(unsigned i) override {
        for (int round = 1; round <= 3; round++)
            if (i == 0) {
                while (ready.load(memory_order_acquire) < round) yield();
                data = round;
                parker.unpark();
            } else {
                ready.store(round, memory_order_release);
                parker.park();
                CHECK(data == round);
            }
    }
};

// The same with parks that end by themselves: one that does not has seen what was done before its unpark.
struct Timed : Model<2> {
    Parker parker;
    Plain<int> data{0};
    Atomic<int> ready;
    void thread(unsigned i) override {
        for (int round = 1; round <= 3; round++)
            if (i == 0) {
                while (ready.load(memory_order_acquire) < round) yield();
                data = round;
                parker.unpark();
            } else {
                ready.store(round, memory_order_release);
                while (parker.park_until(1) != Woken::kMaybe) yield();
                CHECK(data == round);
            }
    }
};

// Two unparks before a park count once; none leaves the word in a state from which the next park does not return.
struct Twice : Model<3> {
    Parker parker;
    int unparked = 0;
    void thread(unsigned i) override {
        if (i == 0) {
            parker.park();
            CHECK(unparked > 0);
        } else {
            unparked++;
            parker.unpark();
        }
    }
    void after() override {
        unparked = 0;
        parker.unpark();
        parker.unpark();
        parker.park();
    }
};

}  // namespace

int main() {
    bool ok = true;
    ok &= holds<Rounds>("rounds", 200'000);
    ok &= holds<Timed>("timed", 20'000);
    ok &= holds<Twice>("twice", 200'000);
    return ok ? 0 : 1;
}
