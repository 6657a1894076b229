// By hand and not by dladdr(3), which waits while any thread initialises a library that it opens: for ever, if that
// hangs, and that is when somebody wants to see its stack. The list of dl_iterate_phdr(3) has a lock that is held for
// moments only, and while it is locked nothing that it names is unmapped.
#include "observe/symbol.h"

#include <link.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "observe/objects.h"
#include "sync/errno.h"

namespace hc {
namespace {

struct Search {
    uintptr_t ip;
    char *out;
    size_t size;
};

struct Symbols {
    const ElfW(Sym) *table = nullptr;
    const char *names = nullptr;
    const uint32_t *hash = nullptr, *gnu_hash = nullptr;
};

Symbols find_symbols(const dl_phdr_info &module, const ElfW(Dyn) * d) {
    Symbols s;
    for (; d != nullptr && d->d_tag != DT_NULL; d++) {
        // Some loaders have made an address of it, some have left the offset.
        const uintptr_t value = d->d_un.d_ptr, at = value < module.dlpi_addr ? value + module.dlpi_addr : value;
        if (d->d_tag == DT_SYMTAB) s.table = reinterpret_cast<const ElfW(Sym) *>(at);
        if (d->d_tag == DT_STRTAB) s.names = reinterpret_cast<const char *>(at);
        if (d->d_tag == DT_HASH) s.hash = reinterpret_cast<const uint32_t *>(at);
        if (d->d_tag == DT_GNU_HASH) s.gnu_hash = reinterpret_cast<const uint32_t *>(at);
    }
    return s;
}

// How many symbols there are is written nowhere; the hash tables know the last.
uint32_t count(const Symbols &s) {
    if (s.hash != nullptr) return s.hash[1];
    if (s.gnu_hash == nullptr) return 0;
    const uint32_t buckets = s.gnu_hash[0], first = s.gnu_hash[1], words = s.gnu_hash[2];
    const uint32_t *bucket = s.gnu_hash + 4 + words * (sizeof(ElfW(Addr)) / 4), *chain = bucket + buckets;
    uint32_t last = 0;
    for (uint32_t i = 0; i < buckets; i++)
        if (bucket[i] > last) last = bucket[i];
    if (last < first) return 0;
    while ((chain[last - first] & 1) == 0) last++;
    return last + 1;
}

const ElfW(Sym) * function_at(const Symbols &s, uintptr_t offset) {
    const ElfW(Sym) *best = nullptr;
    if (s.table == nullptr || s.names == nullptr) return nullptr;
    for (uint32_t i = 0, n = count(s); i < n; i++) {
        const ElfW(Sym) &y = s.table[i];
        const unsigned type = y.st_info & 15u;
        if (y.st_shndx == SHN_UNDEF || (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)) continue;
        // What the sizes leave out belongs to a function that is not exported.
        if (offset < y.st_value || (offset - y.st_value >= y.st_size && (y.st_size != 0 || offset != y.st_value)))
            continue;
        if (best == nullptr || y.st_value > best->st_value) best = &y;
    }
    return best;
}

int look(dl_phdr_info *module, size_t, void *p) {
    const auto &search = *static_cast<Search *>(p);
    const uintptr_t offset = search.ip - module->dlpi_addr;
    const ElfW(Dyn) *dynamic = nullptr;
    bool inside = false;
    for (int i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) &h = module->dlpi_phdr[i];
        if (h.p_type == PT_LOAD && offset - h.p_vaddr < h.p_memsz) inside = true;
        if (h.p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const ElfW(Dyn) *>(module->dlpi_addr + h.p_vaddr);
    }
    if (!inside) return 0;

    char program[256];
    const char *name = module->dlpi_name;
    if (name == nullptr || name[0] == 0) {  // the program itself
        const ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
        program[n > 0 ? n : 0] = 0;
        name = program;
    }
    if (const char *slash = strrchr(name, '/')) name = slash + 1;

    const Symbols symbols = find_symbols(*module, dynamic);
    if (const ElfW(Sym) *s = function_at(symbols, offset))
        snprintf(search.out, search.size, "%s+0x%zx (%s)", symbols.names + s->st_name,
                 static_cast<size_t>(offset - s->st_value), name);
    else
        snprintf(search.out, search.size, "%s+0x%zx", name, static_cast<size_t>(offset));
    return 1;
}

}  // namespace

void symbol(uintptr_t ip, char *out, size_t size) {
    KeepErrno keep;
    Search s{ip, out, size};
    if (each_object(look, &s) == 0) snprintf(out, size, "0x%zx", static_cast<size_t>(ip));
}

}  // namespace hc
