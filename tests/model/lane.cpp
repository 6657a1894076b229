// The lane (src/queue/lane.h): a chain of Boost's rings that grows under the producer and is retired under a claim that moves.
#include "model.h"
//
#include "queue/lane.h"
#include "stand_ins.h"

using namespace hc;
using namespace hc::model;

namespace {

void body(void *) {}

// What the entries point to: the push must publish it.
template <int N>
struct Numbered {
    Plain<int> number[N];
    Entry entry(int i) {
        number[i] = i;
        return Entry(body, &number[i]);
    }
    int read(const Entry &e) {
        Plain<int> *p = static_cast<Plain<int> *>(e.arg);
        CHECK(p >= number && p < number + N && *p == p - number);
        return *p;
    }
};

// One producer, more entries than the first rings hold, two consumers: everything comes out, once, in order.
template <bool kArray>
struct Handover : Model<3> {
    Numbered<6> in;
    RingPool pool;
    Lane lane{pool};
    Atomic<int> told;  // pushed so far, published by other means than the lane's
    int next = 0;
    Handover() { CHECK(lane.start()); }

    void thread(unsigned i) override {
        if (i == 0)
            produce();
        else
            for (int tries = 0; tries < 4; tries++) consume(2);
    }
    void produce() {
        for (int k = 0; k < 6; k += kArray ? 3 : 1) {
            if (kArray) {
                const Entry some[] = {in.entry(k), in.entry(k + 1), in.entry(k + 2)};
                CHECK(lane.push(some, 3) == 3);
            } else {
                CHECK(lane.push(in.entry(k)));
            }
            told.store(k + 1, memory_order_release);
        }
    }
    void consume(size_t most) {
        const int before = told.load(memory_order_acquire);
        if (lane.empty()) {
            CHECK(next >= before);  // an empty lane: what was pushed before has been popped
            return yield();
        }
        if (!lane.try_claim()) return yield();
        Entry out[3];
        const size_t n = lane.pop(out, most);
        for (size_t k = 0; k < n; k++) CHECK(in.read(out[k]) == next++);
        lane.release();
    }
    void after() override {
        while (!lane.empty()) consume(3);
        CHECK(next == 6);
    }
};

// Two lanes with one pool: a ring that one lane's consumer has retired is the other producer's next, or is trimmed away.
struct Recycled : Model<4> {
    RingPool pool;
    Lane lanes[2] = {Lane(pool), Lane(pool)};
    Numbered<5> in[2];
    int next[2] = {};
    Recycled() {
        for (Lane &l : lanes) CHECK(l.start());
    }
    void thread(unsigned i) override {
        if (i < 2)
            for (int k = 0; k < 5; k++) CHECK(lanes[i].push(in[i].entry(k)));
        else if (i == 2)
            for (int tries = 0; tries < 6; tries++) consume(tries % 2);
        else
            pool.trim();
    }
    void consume(int which) {
        CHECK(lanes[which].try_claim());
        Entry out[2];
        const size_t n = lanes[which].pop(out, 2);
        for (size_t k = 0; k < n; k++) CHECK(in[which].read(out[k]) == next[which]++);
        lanes[which].release();
        if (n == 0) yield();
    }
    void after() override {
        for (int which : {0, 1}) {
            while (!lanes[which].empty()) consume(which);
            CHECK(next[which] == 5);
        }
    }
};

// The producer's role goes to another thread by a lock, as at the end of a thread.
struct Inherited : Model<3> {
    Numbered<4> in;
    RingPool pool;
    Lane lane{pool};
    Mutex registry;
    int pushed = 0, next = 0;
    Inherited() { CHECK(lane.start()); }
    void thread(unsigned i) override {
        if (i < 2) {
            Locked l(registry);
            for (int k = 0; k < 2; k++, pushed++) CHECK(lane.push(in.entry(pushed)));
        } else {
            for (int tries = 0; tries < 3; tries++) consume();
        }
    }
    void consume() {
        CHECK(lane.try_claim());
        Entry out[2];
        const size_t n = lane.pop(out, 2);
        for (size_t k = 0; k < n; k++) CHECK(in.read(out[k]) == next++);
        lane.release();
        if (n == 0) yield();
    }
    void after() override {
        while (!lane.empty()) consume();
        CHECK(next == 4);
    }
};

// A lane's count is made final while its producer pushes, and others pop: each push is accepted whole, and popped, or came
// too late, and is out again.
template <int kLate>
struct Final : Model<3> {
    static constexpr int kEarly = 3;
    Numbered<kEarly + kLate> in;
    RingPool pool;
    Lane lane{pool};
    Atomic<int> settled{0};
    int next = 0;
    size_t out = 0;
    Final() { CHECK(lane.start()); }
    void claim() {
        while (!lane.try_claim()) yield();
    }
    void pop() {
        Entry some[4];
        while (const size_t n = lane.pop(some, 4))
            for (size_t k = 0; k < n; k++) CHECK(in.read(some[k]) == next++);
    }
    void thread(unsigned i) override {
        if (i == 0) {
            for (int k = 0; k < kEarly; k++) CHECK(lane.push(in.entry(k)));
            Entry late[kLate];
            for (int k = 0; k < kLate; k++) late[k] = in.entry(kEarly + k);
            CHECK(lane.push(late, kLate) == kLate);
            while (settled.load(memory_order_acquire) == 0) yield();
            out = lane.uncount_late();
        }
        if (i == 1) {
            claim();
            lane.close();
            lane.release();
            settled.store(1, memory_order_release);
        }
        if (i == 2)
            for (int tries = 0; tries < 4; tries++) {
                claim();
                pop();
                lane.release();
            }
    }
    void after() override {
        pop();
        CHECK(out <= kEarly + kLate);
        CHECK(next + static_cast<int>(out) == kEarly + kLate);
        CHECK(lane.empty());
    }
};

}  // namespace

int main() {
    bool ok = true;
    ok &= holds<Handover<false>>("handover", 100'000);
    ok &= holds<Handover<true>>("handover of arrays", 100'000);
    ok &= holds<Recycled>("recycled", 50'000);
    ok &= holds<Inherited>("inherited", 50'000);
    ok &= holds<Final<1>>("final", 100'000);
    ok &= holds<Final<3>>("final, many late", 100'000);
    return ok ? 0 : 1;
}
