#include "group/keys.h"

namespace hc {

Line *LineShard::line_of(uint64_t key, uint64_t hash) {
    const uint64_t bits = hash >> Keys::kBits;
    if (size != 0)
        for (Line *l = buckets[bits & (size - 1)]; l != nullptr; l = l->next)
            if (l->key == key) return l;
    if (lines >= size && !resize(size == 0 ? 8 : 2 * size) && size == 0) return nullptr;  // otherwise its buckets are longer
    Line *l = line_slabs.take_or_make();
    if (l == nullptr) return nullptr;
    l->key = key;
    l->shard = this;
    Line *&bucket = buckets[bits & (size - 1)];
    l->next = bucket;
    bucket = l;
    lines = lines + 1;
    return l;
}

void LineShard::forget(Line *l) {
    Line **at = &buckets[Keys::hash(l->key) >> Keys::kBits & (size - 1)];
    while (*at != l) at = &(*at)->next;
    *at = l->next;
    lines = lines - 1;
    line_slabs.give(l);
    if (size > 8 && lines < size / 8) resize(size / 2);
    line_slabs.ease();
    block_slabs.ease();
}

bool LineShard::resize(uint32_t n) {
    auto *more = memory::make_array<Line *>(n);
    if (more == nullptr) return false;
    for (uint32_t i = 0; i < size; i++)
        for (Line *l = buckets[i], *next; l != nullptr; l = next) {
            next = l->next;
            Line *&bucket = more[Keys::hash(l->key) >> Keys::kBits & (n - 1)];
            l->next = bucket;
            bucket = l;
        }
    memory::destroy_array(buckets, size);
    buckets = more;
    size = n;
    return true;
}

void LineShard::trim() {
    line_slabs.trim();
    block_slabs.trim();
    if (lines != 0) return;
    memory::destroy_array(buckets, size);
    buckets = nullptr;
    size = 0;
}

void Keys::close() {
    each([](LineShard &s) { Locked l(s.lock); });
}

}  // namespace hc
