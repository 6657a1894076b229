// The ticket (src/task/ticket.h): whoever claims it first has it; the popper gives the record back in any case.
#include "model.h"
//
#include "core.h"

using namespace hc;
using namespace hc::model;

namespace {


// A worker pops the entry while two others claim the ticket.
struct Claimed : CoreModel<3> {
    Recycler<Ticket> home;
    Ticket *t = home.take();
    int ran = 0, claims = 0;
    Claimed() {
        t->fn = [](void *self) { static_cast<Claimed *>(self)->ran++; };
        t->arg = this;
        t->home = &home;
    }
    void thread(unsigned i) override {
        if (i == 0)
            Ticket::run(t);
        else
            claims += t->claim();
    }
    void after() override {
        CHECK(ran + claims == 1);
        CHECK(home.take() == t);
        home.give(t);
    }
};

}  // namespace

int main() { return holds<Claimed>("claimed", 100'000) ? 0 : 1; }
