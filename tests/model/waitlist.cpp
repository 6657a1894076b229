// Submitters that wait for room (src/group/waitlist.h): nobody waits while there is room, each gets some or is told why not.
#include "model.h"
//
#include "staged.h"

using namespace hc;
using namespace hc::model;

namespace {

// Two submitters, room for one task, and a worker that gives it back.
template <bool kShutDown>
struct Waiting : Staged<kShutDown ? 4 : 3, 4> {
    Waiting() {
        this->options.capacity = 1;
        this->options.full = Full::kWait;
        this->shut_down_at_end = !kShutDown;
        this->build(1);
    }
    void thread(unsigned i) override {
        if (i < 2)
            for (int k = 0; k < 2; k++) kShutDown ? this->offer(static_cast<int>(i) * 2 + k) : this->post(static_cast<int>(i) * 2 + k);
        if (i == 2) this->work(0);
        if (i == 3) this->g->shutdown(false);
        thread_ends();
    }
};

// Its patience is at an end just when it gets room: the room is used, or not taken.
struct Impatient : Staged<3, 3> {
    Impatient() {
        options.capacity = 1;
        options.full = Full::kWait;
        options.full_timeout = 2;
        build(1);
    }
    void thread(unsigned i) override {
        if (i == 0) {
            offer(0);
            offer(1);
        }
        if (i == 1) offer(2);
        if (i == 2) work(0);
        thread_ends();
    }
    void after() override {
        CHECK(g->budget.take(1, 1) == 1);
        Staged::after();
    }
};

// The only worker is in a task until the submitter is told that the group has been shut down: no room comes before.
struct StuckEnd : Staged<3, 3> {
    Condition told;
    StuckEnd() {
        options.capacity = 1;
        options.full = Full::kWait;
        shut_down_at_end = false;
        build(1);
        CHECK(g->budget.take(1, 1) == 1);
        give(0, {0});
        tasks[0].until = &told;
    }
    void thread(unsigned i) override {
        if (i == 0) {
            offer(1);
            offer(2);
            told.meet();
        }
        if (i == 1) {
            g->shutdown(false);
            CHECK(g->await(kNever));
        }
        if (i == 2) {
            worker(0).run_batch();
            work(0);
        }
        thread_ends();
    }
};

}  // namespace

int main() {
    bool ok = true;
    ok &= holds<Waiting<false>>("waiting", 20'000);
    ok &= holds<Waiting<true>>("waiting, shut down", 20'000);
    ok &= holds<Impatient>("impatient", 20'000);
    ok &= holds<StuckEnd>("stuck end", 20'000);
    return ok ? 0 : 1;
}
