// The questions to other threads (src/observe/desk.h): who writes the form is alone with it, whenever the asker gives
// up, and whichever question the handler answers. The handler of a thread is a thread of the model that runs whenever
// it likes.
#include "model.h"
//
#include "observe/desk.h"
#include "stand_ins.h"

using namespace hc;
using namespace hc::model;

namespace {

constexpr int32_t kThread = 7;  // the number of the one with handler 0; the next has the next

struct Form {
    Slot slot;
    Plain<int> question{0}, answer{0};
};

void handle(Form *forms, int n, int32_t self, Bell &bell) {
    bool any = false;
    for (int i = 0; i < n; i++)
        if (forms[i].slot.take(self)) {
            forms[i].answer = forms[i].question * 10;
            forms[i].slot.give(self);
            any = true;
        }
    if (any) bell.ring();
}

// Nobody gives up: the answer is there, or the bell rings.
template <int kHandlers>
struct Answered : Model<kHandlers + 1> {
    Form forms[kHandlers];
    Bell bell;
    Atomic<int> sent[kHandlers];
    void thread(unsigned i) override {
        if (i > 0) {
            for (int round = 1; round <= 2; round++) {
                while (sent[i - 1].load(memory_order_relaxed) < round) yield();
                handle(forms, kHandlers, kThread + static_cast<int32_t>(i) - 1, bell);
            }
            return;
        }
        for (int round = 1; round <= 2; round++) ask(round);
    }
    void ask(int round) {
        bool open[kHandlers];
        for (int k = 0; k < kHandlers; k++) {
            CHECK(forms[k].slot.free());
            forms[k].question = round;
            forms[k].slot.ask(kThread + k);
            // The kernel's part: the signal. That it orders memory too is not relied upon: the handler reads it
            // relaxed.
            sent[k].store(round, memory_order_release);
            open[k] = true;
        }
        for (int left = kHandlers; left > 0;) {
            const uint32_t heard = bell.listen();
            bool moved = false;
            for (int k = 0; k < kHandlers; k++)
                if (open[k] && forms[k].slot.taken()) {
                    CHECK(forms[k].answer == round * 10);
                    forms[k].slot.collect();
                    open[k] = false;
                    left--;
                    moved = true;
                }
            if (!moved) bell.wait(heard, kNever);
        }
    }
};

// The asker gives up at any moment, asks again in whatever is free, and changes the form before; the handler comes as
// often as questions were asked, early or late. What was taken answers the question.
template <int kForms>
struct GivenUp : Model<2> {
    Form forms[kForms];
    Bell bell;
    void thread(unsigned i) override {
        if (i == 1) {
            for (int k = 0; k < 3; k++) handle(forms, kForms, kThread, bell);
            return;
        }
        for (int round = 1; round <= 3; round++)
            for (Form &f : forms) {
                if (!f.slot.free()) continue;
                f.question = round;
                f.answer = 0;
                f.slot.ask(kThread);
                if (round == 2) yield();
                if (f.slot.taken()) CHECK(f.answer == round * 10);
                if (f.slot.withdraw()) break;
                CHECK(f.answer == round * 10);
                f.slot.collect();
            }
    }
    void after() override {
        for (Form &f : forms) CHECK(f.slot.free());
    }
};

// A question to another thread is none to this one.
struct Other : Model<2> {
    Form form;
    Bell bell;
    void thread(unsigned i) override {
        if (i == 1) return handle(&form, 1, kThread + 1, bell);
        form.question = 1;
        form.slot.ask(kThread);
        CHECK(!form.slot.taken());
        CHECK(form.slot.withdraw());
    }
};

}  // namespace

int main() {
    bool ok = true;
    ok &= holds<Answered<1>>("one", 100'000);
    ok &= holds<Answered<2>>("two", 100'000);
    ok &= holds<GivenUp<1>>("given up", 200'000);
    ok &= holds<GivenUp<2>>("given up, two forms", 200'000);
    ok &= holds<Other>("another's", 20'000);
    return ok ? 0 : 1;
}
