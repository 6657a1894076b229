// What a task says of its order: one after the other with those of the same serial, or of the same key. See group/line.h.
#pragma once
#include <cstdint>
namespace hc {

class Serial;

struct Ordering {
    enum Mode : uint32_t { kNone = 0, kPlain = 1, kSticky = 2, kBound = 3 };  // of a key: HC_KEY_...
    Serial *serial = nullptr;
    uint64_t key = 0;
    uint32_t mode = kNone;
    explicit operator bool() const { return serial != nullptr || mode != kNone; }
};

}  // namespace hc
