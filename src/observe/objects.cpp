#include "observe/objects.h"

#include <algorithm>
#include <cstring>

#include "sync/atomic.h"

namespace hc {
namespace {

// Encodings of .eh_frame_hdr, as the Linux Standard Base has them.
constexpr unsigned char kOmit = 0xff, kFormat = 0x0f, kSortedTable = 0x3b;  // offsets from the header, signed, 32 bits
size_t width(unsigned char encoding) {
    switch (encoding & kFormat) {
        case 0x00: return sizeof(uintptr_t);
        case 0x02:
        case 0x0a: return 2;
        case 0x03:
        case 0x0b: return 4;
        case 0x04:
        case 0x0c: return 8;
        default: return 0;  // of no fixed size: no linker writes it here
    }
}

// While the loader's list is locked nothing of it is unmapped.
void read_header(Object *o, uintptr_t address, size_t size) {
    const auto *p = reinterpret_cast<const unsigned char *>(address);
    if (size < 4 || p[0] != 1 || p[1] == kOmit || p[2] == kOmit || p[3] != kSortedTable) return;
    const size_t pointer = width(p[1]), count = width(p[2]);
    if (pointer == 0 || count == 0 || size < 4 + pointer + count) return;
    uint64_t entries = 0;
    memcpy(&entries, p + 4 + pointer, count);  // little endian, as all that this is built for
    const uintptr_t table = address + 4 + pointer + count;
    if (entries > (address + size - table) / 8) return;
    o->header = address;
    o->table = table;
    o->entries = entries;
}

Atomic<int> inside{0};
Atomic<bool> locked_for_ever{false};

}  // namespace

int each_object(int (*look)(dl_phdr_info *, size_t, void *), void *arg) {
    if (locked_for_ever.load(memory_order_relaxed)) return 0;
    inside.fetch_add(1, memory_order_relaxed);
    const int r = dl_iterate_phdr(look, arg);
    inside.fetch_sub(1, memory_order_relaxed);
    return r;
}

void each_object_fork_child() {
    if (inside.load(memory_order_relaxed) != 0) locked_for_ever.store(true, memory_order_relaxed);
}

int Objects::add(dl_phdr_info *info, size_t, void *p) {
    auto *self = static_cast<Objects *>(p);
    if (self->count_ == kMost) return 1;
    Object o{UINTPTR_MAX, 0, 0, 0, 0};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) &h = info->dlpi_phdr[i];
        const uintptr_t from = info->dlpi_addr + h.p_vaddr;
        if (h.p_type == PT_LOAD) {
            o.low = std::min(o.low, from);
            o.high = std::max(o.high, from + h.p_memsz);
        } else if (h.p_type == PT_GNU_EH_FRAME) {
            read_header(&o, from, h.p_memsz);
        }
    }
    if (o.low < o.high) self->objects_[self->count_++] = o;
    return 0;
}

bool Objects::load() {
    count_ = 0;
    each_object(add, this);
    return count_ > 0;
}

const Object *Objects::at(uintptr_t address) const {
    for (size_t i = 0; i < count_; i++)
        if (address >= objects_[i].low && address < objects_[i].high) return &objects_[i];
    return nullptr;
}

}  // namespace hc
