// The lock (src/sync/lock.h) over a futex that wakes up for no reason.
#include "model.h"
//
#include "stand_ins.h"
#include "sync/lock.h"
#include "sync/mutex.h"

using namespace hc;
using namespace hc::model;

namespace {

// One at a time, each sees what the last has done, and nobody waits for ever: a lost wake is a deadlock.
template <int Threads, int Rounds>
struct Turns : Model<Threads> {
    Lock lock;
    Plain<int> turns{0};
    void thread(unsigned) override {
        for (int round = 0; round < Rounds; round++) {
            Locked l(lock);
            turns = turns + 1;
        }
    }
    void after() override { CHECK(turns == Threads * Rounds); }
};

}  // namespace

int main() {
    bool ok = true;
    ok &= holds<Turns<2, 3>>("two threads", 200'000);
    ok &= holds<Turns<3, 2>>("three threads", 200'000);
    return ok ? 0 : 1;
}
