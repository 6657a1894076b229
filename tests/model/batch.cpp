// The stealable batch (src/queue/batch.h): whatever owner and thieves do, each task is taken once.
#include "model.h"
//
#include "queue/batch.h"
#include "stand_ins.h"

using namespace hc;
using namespace hc::model;

namespace {

void body(void *) {}

constexpr int kRounds = 2, kFill = 3;

// The owner fills its batch twice and empties it, others take from it, half or all.
template <int kThieves, bool kAll>
struct Takeover : Model<kThieves + 1> {
    BasicBatch<4> batch;
    Plain<int> number[kRounds * kFill];
    int taken[kRounds * kFill] = {}, filled = 0;

    void run(const Entry &e) {
        Plain<int> *p = static_cast<Plain<int> *>(e.arg);
        CHECK(p >= number && p < number + filled && *p == p - number);
        CHECK(taken[p - number]++ == 0);
    }
    void own() {
        for (int round = 0; round < kRounds; round++) {
            batch.refill([&](Entry *out) {
                for (int k = 0; k < kFill; k++, filled++) {
                    number[filled] = filled;
                    out[k] = Entry(body, &number[filled]);
                }
                return kFill;
            });
            Entry e;
            while (batch.take(&e)) run(e);
            CHECK(!batch.has_rest());
        }
    }
    void thread(unsigned i) override {
        if (i == 0) return own();
        Entry loot[4];
        for (int tries = 0; tries < 2; tries++) {
            const uint32_t n = kAll ? batch.steal_all(loot) : batch.steal(loot);
            CHECK(n <= kFill);
            for (uint32_t k = 0; k < n; k++) run(loot[k]);
            if (n == 0) yield();
        }
    }
    void after() override {
        CHECK(batch.rest() == 0);
        for (int t : taken) CHECK(t == 1);
    }
};

// The owner puts one task more before each of those that are left, and one after the last.
template <int kThieves, bool kAll>
struct Inserted : Takeover<kThieves, kAll> {
    int next = 0;  // to be taken from elsewhere
    Plain<int> other[2 * kRounds * kFill + kRounds];
    int came[2 * kRounds * kFill + kRounds] = {};
    void run_any(const Entry &e) {
        Plain<int> *p = static_cast<Plain<int> *>(e.arg);
        if (p < other || p >= other + next) return this->run(e);
        CHECK(*p == p - other && came[p - other]++ == 0);
    }
    void thread(unsigned i) override {
        if (i != 0) {
            Entry loot[4];
            for (int tries = 0; tries < 2; tries++) {
                const uint32_t n = kAll ? this->batch.steal_all(loot) : this->batch.steal(loot);
                for (uint32_t k = 0; k < n; k++) run_any(loot[k]);
            }
            return;
        }
        for (int round = 0; round < kRounds; round++) {
            this->batch.refill([&](Entry *out) {
                for (int k = 0; k < kFill; k++, this->filled++) {
                    this->number[this->filled] = this->filled;
                    out[k] = Entry(body, &this->number[this->filled]);
                }
                return kFill;
            });
            Entry e;
            for (bool more = this->batch.take(&e), odd = true; more; odd = !odd) {
                run_any(e);
                if (odd) insert();
                more = this->batch.take(&e);
            }
            // Nothing was found, and then one.
            this->batch.refill([](Entry *) { return 0; });
            insert();
            while (this->batch.take(&e)) run_any(e);
        }
    }
    void insert() {
        CHECK(this->batch.insert([&](Entry *out) {
            other[next] = next;
            *out = Entry(body, &other[next]);
            next++;
            return 1;
        }));
    }
    void after() override {
        Takeover<kThieves, kAll>::after();
        for (int k = 0; k < next; k++) CHECK(came[k] == 1);
    }
};

// The owner begins a task that no thief may take, between two batches, of which one may just have been at the first.
template <bool kAll>
struct Begun : Takeover<1, kAll> {
    Plain<int> alone{0};
    void thread(unsigned i) override {
        if (i != 0) return Takeover<1, kAll>::thread(i);
        this->own();
        this->batch.begin(Entry(body, &alone));
        CHECK(this->batch.rest() == 0);
        Entry e;
        CHECK(!this->batch.take(&e));
    }
};

// What is stolen goes into the thief's own batch, where others find it.
struct Chain : Model<3> {
    BasicBatch<4> batches[3];
    Plain<int> number[4];
    int taken[4] = {};
    Chain() {
        batches[0].refill([&](Entry *out) {
            for (int k = 0; k < 4; k++) {
                number[k] = k;
                out[k] = Entry(body, &number[k]);
            }
            return 4;
        });
    }
    void empty(unsigned i) {
        Entry e;
        while (batches[i].take(&e)) {
            Plain<int> *p = static_cast<Plain<int> *>(e.arg);
            CHECK(*p == p - number && taken[p - number]++ == 0);
        }
    }
    void thread(unsigned i) override {
        for (unsigned k = 0; k < 2; k++) {
            empty(i);
            auto &victim = batches[(i + k + 1) % 3];
            batches[i].refill([&](Entry *out) { return victim.steal(out); });
        }
        empty(i);
    }
    void after() override {
        for (unsigned i = 0; i < 3; i++) empty(i);
        for (int t : taken) CHECK(t == 1);
    }
};

}  // namespace

int main() {
    bool ok = true;
    ok &= holds<Takeover<1, false>>("one thief", 150'000);
    ok &= holds<Takeover<2, false>>("two thieves", 150'000);
    ok &= holds<Takeover<1, true>>("all", 150'000);
    ok &= holds<Inserted<1, false>>("inserted", 150'000);
    ok &= holds<Inserted<2, false>>("inserted, two thieves", 150'000);
    ok &= holds<Inserted<1, true>>("inserted, all", 100'000);
    ok &= holds<Begun<false>>("begun", 50'000);
    ok &= holds<Begun<true>>("begun, all", 50'000);
    ok &= holds<Chain>("chain", 50'000);
    return ok ? 0 : 1;
}
