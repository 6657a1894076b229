// Timers of a staged group. Time passes when somebody looks at the clock; a sleep until a far time never ends by itself.
#ifndef HC_MODEL_TIMED_H
#define HC_MODEL_TIMED_H
#include "staged.h"
namespace hc::model {

constexpr uint64_t kFarOff = uint64_t{1} << 30;

template <int Threads, int Tasks>
struct Timed : Staged<Threads, Tasks> {
    Timed() { this->shut_down_at_end = false; }
    void later(int i, uint64_t delay) {
        const uint64_t at = hc::now();
        CHECK(schedule(this->g, this->entry(i), at + delay, at) == Submit::kOk);
    }
    void close() { this->g->shutdown(false); }
};

}  // namespace hc::model
#endif
