// A group's whole life: create, submit, shut down, await, free.
#include "core.h"

using namespace hc;
using namespace hc::model;

namespace {

struct Life : CoreModel<1, 2> {
    int ran = 0;
    static void task(void *self) { static_cast<Life *>(self)->ran++; }
    void thread(unsigned) {
        GroupOptions o;
        o.workers = 2;
        o.spin_ns = 0;
        Group *g = nullptr;
        CHECK(Group::create(&g, o) == Group::Create::kOk);
        for (int i = 0; i < 2; i++) CHECK(submit(g, {task, this}) == Submit::kOk);
        g->shutdown(false);
        CHECK(g->await(kNever));
        CHECK(ran == 2);
        g->unref();
        thread_ends();
    }
};

}  // namespace

int main() { return holds<Life>("life", 20'000) ? 0 : 1; }
