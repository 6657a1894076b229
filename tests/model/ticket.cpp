// The ticket (src/task/ticket.h): whoever claims it first has it; the popper gives the record back in any case, and it becomes another.
#include "model.h"
//
#include "core.h"

using namespace hc;
using namespace hc::model;

namespace {

// It expires while a worker pops it, and while its user has it carry another call: one that does not expire, or one that does. The first
// may not expire either.
template <uint64_t kFirst, uint64_t kNext>
struct Expires : CoreModel<2> {
    static constexpr uint64_t kNow = 5;
    Recycler<Ticket> home;
    Plain<int> first{0}, second{0};
    int ran[2] = {0, 0}, expired[2] = {0, 0};
    static void run_first(void *self) { static_cast<Expires *>(self)->ran[0]++; }
    static void run_second(void *self) { static_cast<Expires *>(self)->ran[1]++; }
    Ticket *with(Ticket::Fn fn, uint64_t expires_at) {
        Ticket *t = home.take();
        t->carry({fn, this, nullptr});
        t->expires_at.store(expires_at, memory_order_relaxed);
        t->home = &home;
        t->enqueue();
        return t;
    }
    Ticket *t = with(run_first, kFirst);
    void thread(unsigned i) override {
        if (i == 0) {
            Ticket::run(t);
            Ticket::run(with(run_second, kNext));
        } else {
            for (int looks = 0; looks < 2; looks++)
                home.made.walk([this](Ticket *at) {
                    Ticket::Call call;
                    if (at->expire(kNow, &call)) expired[call.fn == run_second]++;
                    return true;
                });
        }
    }
    void after() override {
        CHECK(ran[0] + expired[0] == 1);
        CHECK(ran[1] + expired[1] == 1);
        CHECK(expired[0] == 0 || kFirst <= kNow);
        CHECK(expired[1] == 0 || kNext <= kNow);
    }
};

}  // namespace

int main() {
    bool ok = holds<Expires<5, UINT64_MAX>>("expires", 100'000);
    ok &= holds<Expires<5, 3>>("expires, and again", 100'000);
    ok &= holds<Expires<5, 7>>("expires, and then would later", 100'000);
    ok &= holds<Expires<UINT64_MAX, 3>>("would never, and then expires", 100'000);
    return ok ? 0 : 1;
}
