// A group whose threads are the scenario's own: built and torn down by the real code, begun in whatever state the scenario
// puts it. Its tasks know whether they ran, and may wait for others. When all have run, the group is shut down; if one never
// runs, its workers sleep for ever, and relacy reports a deadlock.
#ifndef HC_MODEL_STAGED_H
#define HC_MODEL_STAGED_H
#include "core.h"
namespace hc::model {

struct Job {
    Plain<int> payload{0};  // written just before the submit, read by the task: the submit must publish it
    Plain<int> result{0};   // written by the task
    int ran = 0, refused = 0, unrun = 0;
    Condition *until = nullptr;  // this task's body waits for it
};

template <int Threads, int Tasks, int Started = 0>
struct Staged : CoreModel<Threads, Started> {
    GroupOptions options;
    Group *g = nullptr;
    Job tasks[Tasks];
    int ended = 0;
    bool shut_down_at_end = true;
    Condition over;  // all tasks have ended, or will not run

    static inline Staged *now;  // the iteration's

    Staged() { options.spin_ns = 0; }

    void build(uint32_t workers, Kind kind = Kind::kStealing) {
        now = this;
        options.least = options.most = workers;
        options.kind = kind;
        options.on_unrun = [](void *, void (*)(void *), void *arg, int32_t) { now->not_run(arg); };
        g = new (memory::allocate(sizeof(Group), alignof(Group))) Group(options);
        CHECK(g->build());
        for (uint32_t i = 0; i < workers; i++) {
            worker(i).hired = true;
        }
        g->gate.take_places(workers);
        g->gate.lower(Gate::kEmpty);
        g->roster.active_.store(workers, memory_order_relaxed);
        g->roster.threads_.fetch_add(workers, memory_order_relaxed);
    }
    Worker &worker(uint32_t i) { return g->roster.at(i); }

    // By the real function, and its workers by real starts.
    void create(uint32_t least, uint32_t most, uint32_t spares = 0) {
        now = this;
        options.least = least;
        options.most = most;
        options.spares = spares;
        options.on_unrun = [](void *, void (*)(void *), void *arg, int32_t) { now->not_run(arg); };
        machine.threads_left = Started;
        CHECK(Group::create(&g, options) == Group::Create::kOk);
    }

    Entry entry(int i) {
        tasks[i].payload = i + 1;
        return Entry(body, &tasks[i]);
    }
    // A submit that must be accepted, and one that may be refused.
    void post(int i) { CHECK(submit(g, entry(i)) == Submit::kOk); }
    void post(int i, Priority p) { CHECK(submit_at(g, entry(i), p) == Submit::kOk); }
    void offer(int i, Priority p) {
        if (submit_at(g, entry(i), p) != Submit::kOk) refuse(i);
    }
    void offer(int i) {
        if (submit(g, entry(i)) != Submit::kOk) refuse(i);
    }
    void offer(int first, int n) {
        Entry e[Tasks];
        for (int i = 0; i < n; i++) e[i] = entry(first + i);
        size_t accepted = 0;
        submit_batch(g, e, static_cast<size_t>(n), &accepted);
        for (int i = static_cast<int>(accepted); i < n; i++) refuse(first + i);
    }
    void refuse(int i) {
        tasks[i].refused++;
        one_less();
    }
    // A worker in the middle of a batch.
    void give(uint32_t worker, std::initializer_list<int> which) {
        // They never were in a lane: what has ended must not exceed what was pushed.
        g->reaped.fetch_sub(which.size(), memory_order_relaxed);
        this->worker(worker).batch_.refill([&](Entry *out) {
            for (int i : which) *out++ = entry(i);
            return which.size();
        });
    }
    void work(uint32_t i) {  // the worker's whole life
        g->gate.begin_search(64);
        Worker::body(&worker(i));
    }

    static void body(void *p) {
        auto *t = static_cast<Job *>(p);
        CHECK(t->payload == static_cast<int>(t - now->tasks) + 1);
        CHECK(t->ran++ == 0);
        now->begun();
        if (t->until != nullptr) t->until->wait();
        t->result = 1;
        now->one_less();
    }
    virtual void begun() {}  // after any task, or drop, has begun
    void not_run(void *task) {
        CHECK(static_cast<Job *>(task)->unrun++ == 0);
        now->begun();
        static_cast<Job *>(task)->result = 2;
        now->one_less();
    }
    void one_less() {
        if (++ended != Tasks) return;
        if (shut_down_at_end) g->shutdown(false);
        over.meet();
    }

    void after() override {
        for (auto &t : tasks) CHECK(t.ran + t.refused + t.unrun == 1);
        g->unref();
    }
};

}  // namespace hc::model
#endif
