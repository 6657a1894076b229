// Order (src/group/line.h, keys.h, kept.h): the tasks of a key, or of a serial, run one after the other, each seeing what the one before
// has done; none is lost, or run twice, when a line is handed over, kept, or its group ends.
#include "model.h"
//
#include "staged.h"

using namespace hc;
using namespace hc::model;

namespace {

template <int Threads, int Tasks>
struct Ordered : Staged<Threads, Tasks> {
    Plain<int> last{0};  // what the order protects
    int turns = 0, each = 2;  // tasks of a submitter
    Serial *serial = nullptr;
    int next_of[4] = {-1, -1, -1, -1};  // by submitter: its last task

    struct Turn {
        Ordered *at;
        int task;
    } turn[Tasks];

    static void body(void *p) {
        auto *t = static_cast<Turn *>(p);
        t->at->in_turn(t->task);
        Staged<Threads, Tasks>::body(&t->at->tasks[t->task]);
    }
    // Read and written without an atomic: relacy sees a race if two overlap, or one does not see the other.
    void in_turn(int task) {
        const int before = last;
        last = before + 1;
        CHECK(before == turns++);
        const int who = task / each;
        CHECK(next_of[who] < task);
        next_of[who] = task;
    }
    static void unrun(void *p) {
        auto *t = static_cast<Turn *>(p);
        t->at->in_turn(t->task);
        Staged<Threads, Tasks>::now->not_run(&t->at->tasks[t->task]);
    }
    void begin(uint32_t workers, Kind kind = Kind::kStealing, bool ends = true) {
        this->shut_down_at_end = ends;
        this->build(workers, kind);
        this->g->options_.on_unrun = [](void *, void (*)(void *), void *p, int32_t) { unrun(p); };
    }
    Submit put(int i, const Ordering &o) {
        this->tasks[i].payload = i + 1;
        turn[i] = {this, i};
        return submit_in_order(this->g, o, Entry(body, &turn[i]));
    }
    void offer(int i, const Ordering &o) {
        if (put(i, o) != Submit::kOk) this->refuse(i);
    }
    void close(bool at_once) {
        this->g->shutdown(at_once);
        CHECK(this->g->await(kNever));
    }
};

constexpr Ordering kKey{nullptr, 7, Ordering::kPlain}, kSticky{nullptr, 7, Ordering::kSticky};

// Two submitters to one key, and workers.
template <int kWorkers, Kind kKind, bool kIsSticky>
struct TwoSubmit : Ordered<2 + kWorkers, 4> {
    TwoSubmit() { this->begin(kWorkers, kKind); }
    void thread(unsigned i) override {
        const Ordering &o = kIsSticky ? kSticky : kKey;
        if (i < 2)
            for (int k = 0; k < 2; k++) CHECK(this->put(static_cast<int>(i) * 2 + k, o) == Submit::kOk);
        else
            this->work(i - 2);
        thread_ends();
    }
};

// The same, and a shutdown comes between; who awaits it sees what all have done.
template <bool kNow, bool kIsSticky, Kind kKind = Kind::kStealing>
struct Closed : Ordered<4, 4> {
    Closed() { begin(1, kKind, false); }
    void thread(unsigned i) override {
        const Ordering &o = kIsSticky ? kSticky : kKey;
        if (i < 2)
            for (int k = 0; k < 2; k++) offer(static_cast<int>(i) * 2 + k, o);
        if (i == 2) {
            close(kNow);
            int refused = 0;
            for (auto &t : tasks) refused += t.refused;
            CHECK(last == turns);
            CHECK(kNow || turns + refused == 4 || ended < 4);
        }
        if (i == 3) work(0);
        thread_ends();
    }
};

// Who drains sees what the tasks did that it had submitted.
struct Drained : Ordered<3, 4> {
    Drained() { begin(1, Kind::kStealing, false); }
    int drained = 0;
    void thread(unsigned i) override {
        if (i < 2) {
            const int first = static_cast<int>(i) * 2;
            CHECK(put(first, kKey) == Submit::kOk);
            CHECK(put(first + 1, kKey) == Submit::kOk);
            CHECK(g->drain(kNever));
            CHECK(tasks[first].result == 1 && tasks[first + 1].result == 1);
            if (++drained == 2) g->shutdown(false);
        } else {
            work(0);
        }
        thread_ends();
    }
};

// The same for a task without an order, while another submits some that have one, the first of their group.
struct DrainedBeside : Ordered<3, 3> {
    DrainedBeside() { begin(1, Kind::kStealing, false); }
    void thread(unsigned i) override {
        if (i == 0) {
            post(2);
            CHECK(g->drain(kNever));
            CHECK(tasks[2].result == 1);
            over.wait();
            g->shutdown(false);
        }
        if (i == 1)
            for (int k = 0; k < 2; k++) CHECK(put(k, kKey) == Submit::kOk);
        if (i == 2) work(0);
        thread_ends();
    }
};

// A serial whose last handle goes while it has work, with the group's.
struct LetGo : Ordered<3, 2> {
    LetGo() {
        each = 1;
        begin(1, Kind::kStealing, false);
        CHECK(serial_make(g, &serial) == Submit::kOk);
        serial->ref();
    }
    void thread(unsigned i) override {
        if (i < 2) {
            offer(static_cast<int>(i), {serial, 0, Ordering::kNone});
            serial->unref();
            if (i == 0) {
                over.wait();
                g->shutdown(false);
                CHECK(g->await(kNever));
            }
        } else {
            work(0);
        }
        thread_ends();
    }
    void after() override {
        CHECK(tasks[0].ran == 1 && tasks[1].ran == 1);
        g->unref();
    }
};

// A line that is kept by a worker that goes to rest, and one that is kept by a worker that is stuck.
struct StuckKeeper : Ordered<3, 4> {
    Condition others;
    StuckKeeper() {
        each = 4;
        begin(2);
        tasks[0].until = &others;  // another key's
    }
    void begun() override {
        if (tasks[1].ran && tasks[2].ran && tasks[3].ran) others.meet();
    }
    // As if the worker had taken its turn, and gone on to another key.
    void thread(unsigned i) override {
        if (i == 0) {
            for (int k = 1; k < 4; k++) CHECK(put(k, kSticky) == Submit::kOk);
            post(0);
        } else {
            work(i - 1);
        }
        thread_ends();
    }
};

// A task of the keeper's, which waits, runs the line's first turn on top of itself, and goes on until another has taken the rest away.
struct HelpingKeeper : Ordered<3, 4> {
    Condition others;
    bool helps = false;
    HelpingKeeper() {
        each = 4;
        begin(2);
        give(0, {3});
        worker(0).interrupted_ = true;  // it goes on with its batch
        tasks[3].until = &others;
    }
    void begun() override {
        if (tasks[0].ran && tasks[1].ran && tasks[2].ran) others.meet();
        if (!tasks[3].ran || std::exchange(helps, true)) return;
        while (turns < 2)
            if (!this_thread->self->help()) yield();
    }
    void thread(unsigned i) override {
        if (i == 0) {
            for (int k = 0; k < 3; k++) CHECK(put(k, kSticky) == Submit::kOk);
        } else {
            work(i - 1);
        }
        thread_ends();
    }
};

// One queue for all, into which one pushes a line, and another tasks that have no order.
struct Mixed : Ordered<3, 4> {
    Mixed() { begin(1, Kind::kShared); }
    void thread(unsigned i) override {
        if (i == 0)
            for (int k = 0; k < 2; k++) CHECK(put(k, kKey) == Submit::kOk);
        if (i == 1)
            for (int k = 2; k < 4; k++) post(k);
        if (i == 2) work(0);
        thread_ends();
    }
};

// A bounded group: what is above the capacity is refused, and the room comes back.
template <Kind kKind>
struct Bounded : Ordered<4, 4> {
    Bounded() {
        options.capacity = 2;
        begin(1, kKind, false);
    }
    void thread(unsigned i) override {
        if (i < 2)
            for (int k = static_cast<int>(i) * 2; k < static_cast<int>(i) * 2 + 2; k++) {
                Submit s;
                while ((s = put(k, kKey)) == Submit::kFull) yield();
                if (s != Submit::kOk) refuse(k);
            }
        if (i == 2) close(false);
        if (i == 3) work(0);
        thread_ends();
    }
    void after() override {
        for (auto &t : tasks) CHECK(t.ran + t.refused == 1);
        uint64_t held = 0;
        g->each_box([&](Outbox &o) { held += o.credit; });
        CHECK(g->budget.free_.load(memory_order_relaxed) + held == 2);
        g->unref();
    }
};

}  // namespace

int main() {
    bool ok = true;
    ok &= holds<TwoSubmit<1, Kind::kStealing, false>>("two submit", 30'000);
    ok &= holds<TwoSubmit<2, Kind::kStealing, false>>("two submit, two work", 30'000);
    ok &= holds<TwoSubmit<1, Kind::kShared, false>>("two submit, shared", 20'000);
    ok &= holds<TwoSubmit<1, Kind::kPinned, false>>("two submit, pinned", 20'000);
    ok &= holds<TwoSubmit<2, Kind::kStealing, true>>("sticky", 30'000);
    ok &= holds<Closed<false, false>>("closed", 30'000);
    ok &= holds<Closed<true, false>>("closed, now", 30'000);
    ok &= holds<Closed<false, true>>("sticky, closed", 30'000);
    ok &= holds<Closed<true, true>>("sticky, closed, now", 30'000);
    ok &= holds<Closed<false, false, Kind::kShared>>("shared, closed", 20'000);
    ok &= holds<Drained>("drained", 30'000);
    ok &= holds<DrainedBeside>("drained, beside", 30'000);
    ok &= holds<LetGo>("let go", 30'000);
    ok &= holds<StuckKeeper>("stuck keeper", 20'000);
    ok &= holds<HelpingKeeper>("helping keeper", 20'000);
    ok &= holds<Mixed>("mixed", 20'000);
    ok &= holds<Bounded<Kind::kStealing>>("bounded", 30'000);
    ok &= holds<Bounded<Kind::kShared>>("bounded, shared", 20'000);
    return ok ? 0 : 1;
}
