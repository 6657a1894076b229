// Listed and unlisted lanes (src/queue/listing.h, directory.h): no lane with something in it stays out of sight.
#include "model.h"
//
#include "queue/directory.h"
#include "stand_ins.h"

using namespace hc;
using namespace hc::model;

namespace {

void body(void *) {}

template <int Threads, int Lanes>
struct Listed : Model<Threads> {
    RingPool pool;
    Directory directory;
    Lane lanes[Lanes] = {};
    Plain<int> number{1};
    int popped = 0, pushed = 0;

    template <int... I>
    Listed(std::integer_sequence<int, I...>) : lanes{((void)I, Lane(pool))...} {}
    Listed() : Listed(std::make_integer_sequence<int, Lanes>()) {
        for (Lane &l : lanes) CHECK(l.start() && directory.add(&l, &l.listing));
    }

    // A submit: push, fence, look at the listing. As after_push() and finish().
    void submit(Lane &lane) {
        CHECK(lane.push(Entry(body, &number)));
        pushed++;
        light_fence();
        if (!lane.listing.listed()) lane.listing.list();
    }
    // As Worker::park(), and tidy(). True: it has found something.
    bool tidy() {
        Directory::Unlisted unlisted;
        directory.unlist_empty(&unlisted);
        if (unlisted.n == 0) return false;
        heavy_fence();
        return directory.relist(unlisted);
    }
    // As Worker::find_in_lanes().
    bool find(uint32_t *at) {
        return directory.each_listed(at, [&](Lane *lane) {
            if (lane->empty() || !lane->try_claim()) return false;
            Entry out[4];
            const size_t n = lane->pop(out, 4);
            for (size_t k = 0; k < n; k++) {
                CHECK(*static_cast<Plain<int> *>(out[k].arg) == 1);
                popped++;
            }
            lane->release();
            return n != 0;
        });
    }
    // When all is quiet, what is left is listed.
    void after() override {
        uint32_t at = 0;
        while (find(&at)) {}
        CHECK(popped == pushed);
    }
};

// One producer, and a worker that finds, unlists and looks again.
struct OneLane : Listed<2, 1> {
    void thread(unsigned i) override {
        uint32_t at = 0;
        if (i == 0)
            for (int k = 0; k < 3; k++) submit(lanes[0]);
        else
            for (int k = 0; k < 3; k++) {
                find(&at);
                tidy();
            }
    }
};

// Two lanes of one shelf and one of another, their producers, and a worker.
struct TwoShelves : Listed<3, 3> {
    void thread(unsigned i) override {
        uint32_t at = 0;
        if (i < 2)
            for (int k = 0; k < 2; k++) submit(lanes[i]);
        else
            for (int k = 0; k < 2; k++) {
                find(&at);
                tidy();
                submit(lanes[2]);  // a task may submit, too
            }
    }
};

// Two workers unlist the same lane, or different ones of one shelf.
template <int kLanes>
struct TwoWorkers : Listed<3, kLanes> {
    void thread(unsigned i) override {
        uint32_t at = 0;
        if (i == 0)
            for (int k = 0; k < 3; k++) this->submit(this->lanes[k % kLanes]);
        else
            for (int k = 0; k < 2; k++) {
                this->find(&at);
                this->tidy();
            }
    }
};

// A lane that is added while others look: who sees its bit sees the lane, its shelf and its hall.
struct Added : Model<2> {
    RingPool pool;
    Directory directory;
    Lane lanes[3] = {Lane(pool), Lane(pool), Lane(pool)};
    Mutex lock;
    Added() {
        for (Lane &l : lanes) CHECK(l.start());
    }
    void thread(unsigned i) override {
        if (i == 0)
            for (Lane &l : lanes) {
                {
                    Locked held(lock);
                    CHECK(directory.add(&l, &l.listing));
                }
                CHECK(l.push(Entry(body, nullptr)));
                l.listing.list();
            }
        else
            for (int tries = 0; tries < 3; tries++) {
                uint32_t at = 0;
                directory.each_listed(&at, [&](Lane *l) {
                    CHECK(l >= lanes && l < lanes + 3);
                    CHECK(!l->empty());  // its list() came after its push
                    return false;
                });
                directory.each_lane([&](Lane *l) {
                    CHECK(l >= lanes && l < lanes + 3);
                    CHECK(l->queued() <= 1);
                });
                Directory::Unlisted none;
                directory.unlist_empty(&none);
                CHECK(none.n == 0);
            }
    }
    void after() override {
        uint32_t all = 0;
        directory.each_lane([&](Lane *) { all++; });
        CHECK(all == 3);
    }
};

}  // namespace

int main() {
    bool ok = true;
    ok &= holds<OneLane>("one lane", 150'000);
    ok &= holds<TwoShelves>("two shelves", 100'000);
    ok &= holds<TwoWorkers<1>>("two workers, one lane", 100'000);
    ok &= holds<TwoWorkers<2>>("two workers, two lanes", 100'000);
    ok &= holds<Added>("added", 100'000);
    return ok ? 0 : 1;
}
