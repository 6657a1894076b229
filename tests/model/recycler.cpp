// The recycler (src/queue/recycler.h): a record has one owner at a time, and none is lost.
#include "model.h"
//
#include "queue/recycler.h"
#include "stand_ins.h"

using namespace hc;
using namespace hc::model;

namespace {

struct Record {
    Plain<int> content{0};
    Plain<Record *> next_free{nullptr};
    Record *made_before = nullptr;
    bool goes = false;
    int owners = 0;
};

// One taker, two givers, and a trim in between. Records travel by a slot for each giver.
struct Circle : Model<4> {
    Recycler<Record> recycler;
    Atomic<Record *> slot[2];
    void thread(unsigned i) override {
        if (i == 0)
            for (int k = 0; k < 4; k++) {
                Record *r = recycler.take();
                CHECK(r->owners++ == 0);
                r->content = k;
                while (slot[k % 2].load(memory_order_relaxed) != nullptr) yield();
                slot[k % 2].store(r, memory_order_release);
            }
        else if (i < 3)
            for (int k = 0; k < 2; k++) {
                Record *r;
                while ((r = slot[i - 1].load(memory_order_acquire)) == nullptr) yield();
                slot[i - 1].store(nullptr, memory_order_relaxed);
                CHECK(r->content % 2 == static_cast<int>(i) - 1);
                r->owners--;
                recycler.give(r);
            }
        else
            recycler.trim();
    }
};

}  // namespace

int main() { return holds<Circle>("circle", 200'000) ? 0 : 1; }
