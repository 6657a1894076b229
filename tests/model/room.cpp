// Room for another worker (src/group/roster.h), and none to be had: nobody comes who may not, whoever may is told of what there is to do,
// and where the system has no thread, what would wait for ever is refused, or handed back.
#include "model.h"
//
#include "breathing.h"

using namespace hc;
using namespace hc::model;

namespace {

// There is no worker, and no thread for one: no submit is accepted.
struct Refused : Breathing<1, 1> {
    Refused() { withheld = 4; }
    void run(unsigned) override {
        created(0, 1);
        const uint64_t at = hc::now();
        TimerOptions o;
        o.call = entry(0);
        o.when = at + 8;
        CHECK(submit(g, entry(0)) == Submit::kNoThread);
        CHECK(submit_at(g, entry(0), Priority::kHigh) == Submit::kNoThread);
        CHECK(submit_in_order(g, {nullptr, 7, Ordering::kPlain}, entry(0)) == Submit::kNoThread);
        CHECK(schedule(g, entry(0), at + 8, at) == Submit::kNoThread);
        CHECK(timer_make(g, o, at, nullptr) == Submit::kNoThread);
        CHECK(g->quiescent() && g->timers.all_gone());
        threads_again();
        post(0);
        thread_ends();
    }
};

// The last worker has left, because another was about to come in its place, and that one could not. Then the group ends.
struct EndsWithout : Breathing<2, 1> {
    EndsWithout() {
        withheld = 4;
        shut_down_at_end = false;
    }
    void run(unsigned) override {
        created(0, 1);
        g->gate.lower(Gate::kEmpty);
        const uint64_t at = hc::now();
        CHECK(schedule(g, entry(0), at + 8, at) == Submit::kOk);
        post(1);
        g->gate.raise(Gate::kEmpty);
        {
            const registry::Call call(g);
            g->shutdown(false);
            CHECK(g->await(kNever));
        }
        CHECK(tasks[0].unrun == 1 && tasks[1].unrun == 1);
        thread_ends();
    }
};

// One comes back from blocking and is one too many, until another blocks: the room of that one is the first one's, and nobody else may
// begin anything while it runs.
struct FirstInTurn : Breathing<3, 1> {
    Condition second_begun, first_back, second_blocks, third_queued, third_begun;
    bool first_runs = false;
    int entered = 0;
    FirstInTurn() { options.keep_alive = uint64_t{1} << 40; }
    void begun() override {
        Worker *w = this_thread->self;
        switch (entered++) {
            case 0:
                CHECK(w->block());
                second_begun.wait();
                w->unblock();
                first_runs = true;
                first_back.meet();
                third_queued.wait();
                for (int k = 0; k < 4; k++) yield();
                first_runs = false;
                return;
            case 1:
                second_begun.meet();
                first_back.wait();
                CHECK(w->block());
                second_blocks.meet();
                third_begun.wait();
                return w->unblock();
            default: CHECK(!first_runs); third_begun.meet();
        }
    }
    void run(unsigned) override {
        created(1, 1, 2);
        post(0);
        post(1);
        second_blocks.wait();
        post(2);
        third_queued.meet();
        thread_ends();
    }
};

// One blocks, and leaves the new room to one who searches, who has found something else. A submitter has seen neither.
struct LeftToSearcher : Breathing<2, 3> {
    Condition second;
    LeftToSearcher() {
        options.keep_alive = uint64_t{1} << 40;
        options.spares = 1;
        build(2);
        machine.threads_left = 4;
        g->gate.begin_search(1);
        tasks[0].until = &second;
    }
    void begun() override {
        if (tasks[1].ran) second.meet();
    }
    void run(unsigned i) override {
        if (i == 0) {
            CHECK(worker(0).block());
            second.wait();
            worker(0).unblock();
        }
        if (i == 1) {
            give(1, {0});
            worker(1).publish(true);
            worker(1).run_batch();
        }
        i == 2 ? post(1) : work(i);
        thread_ends();
    }
};

}  // namespace

int main() {
    bool ok = true;
    ok &= holds<Refused>("refused", 1'000);
    ok &= holds<EndsWithout>("ends without", 1'000);
    ok &= holds<FirstInTurn>("in turn", 10'000);
    ok &= holds<LeftToSearcher>("left to a searcher", 60'000);
    return ok ? 0 : 1;
}
