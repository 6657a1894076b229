#include "group/range.h"

#include <algorithm>
#include <cstring>

#include "group/group.h"

namespace hc {
namespace {

struct Half {
    Range *range;
    uint64_t begin, end;
    void *value;
    static void run(Slot *at, void *half) {
        auto *h = static_cast<Half *>(half);
        run_range(*h->range, at, h->begin, h->end, h->value);
    }
};

}  // namespace

void run_range(Range &r, Slot *at, uint64_t begin, uint64_t end, void *value) {
    if ((r.inside != nullptr && task_stops(r.inside)) || (r.deadline != nullptr && r.deadline->passed())) {
        r.left_out.store(true, memory_order_relaxed);  // the joins publish it
        return;
    }
    if ((end - begin) / 2 < r.grain) {
        if (value == nullptr) return r.fn(r.arg, begin, end);
        return r.body(r.arg, value, begin, end);
    }
    const uint64_t middle = begin + (end - begin) / 2;
    void *right = nullptr;
    if (value != nullptr) {
        right = __builtin_alloca_with_align(r.size + 1, 8 * alignof(std::max_align_t));
        memcpy(right, r.neutral, r.size);
    }
    Half half{&r, middle, end, right};
    Frame frame;
    Slot *inner = fork_push(at, &frame, Half::run, &half);
    run_range(r, inner, begin, middle, value);
    fork_join(inner, &frame);
    if (value != nullptr) r.combine(r.arg, value, right);
}

uint64_t grain_for(const Group &g, uint64_t length) {
    return std::max<uint64_t>(length / (8 * uint64_t{g.roster.most()}), 1);
}

}  // namespace hc
