// libunwind, kept apart from the host: opened at run time, never linked, never closed.
//
// libunwind.so.8 defines the _Unwind_... functions by which C++ throws. As a library that ours needs it would come
// before libgcc_s in a program in C, and whatever that program loads later would throw through it (tried, and seen so).
// RTLD_LOCAL: no name of it, nor of what it brings along (liblzma), is found by anybody else, whatever is loaded later.
//
// Linked privately into libhomecooking.so (static, --exclude-libs) it would be as well hidden. But libhomecooking.a has
// no such border: its users would link libunwind.a themselves, told so by the .pc file, and then _Unwind_... belongs to
// whichever archive comes first. And liblzma would be needed by all and always, for what few ask for.
//
// A program that is wholly static has no loader that could be trusted with it: there are no stacks there.
//
// Of libunwind's two halves this is the one for other processes (libunwind-x86_64.so.8), though the thread is in ours:
// only that one asks back for every register and every word of memory. So it walks through a copy, while the thread
// runs on, and nothing of it ever runs in a signal handler.
#include "observe/unwind.h"

#include <dlfcn.h>
#include <libunwind.h>
#include <link.h>

#include <cstring>

#include "memory/peek.h"
#include "observe/objects.h"
#include "sync/atomic.h"
#include "sync/errno.h"
#include "sync/mutex.h"

// A static program may have none; and to name dlopen itself would make every linker of one warn.
#pragma weak dlsym

namespace hc::unwind {
namespace {

#define HC_TEXT_(x) #x
#define HC_TEXT(x) HC_TEXT_(x)

#if defined(__aarch64__)
static_assert(UNW_AARCH64_PC == int{Copy::kIp} && UNW_REG_SP == int{Copy::kSp});
#else
static_assert(UNW_REG_IP == int{Copy::kIp} && UNW_REG_SP == int{Copy::kSp});
#endif
static_assert(sizeof(unw_word_t) == sizeof(uintptr_t));

struct Library {
    decltype(&unw_create_addr_space) create_addr_space;
    decltype(&unw_init_remote) init_remote;
    decltype(&unw_step) step;
    decltype(&unw_get_reg) get_reg;
    decltype(&unw_is_signal_frame) is_signal_frame;
    // Not in the header, but exported for those who find the tables themselves.
    int (*search_unwind_table)(unw_addr_space_t, unw_word_t ip, unw_dyn_info_t *, unw_proc_info_t *, int need_info,
                               void *arg);
};
Library library;  // written before found == kYes

enum Found { kUnknown, kNo, kYes };
Atomic<Found> found{kUnknown};
Mutex publishing;

template <class F>
bool get(void *handle, const char *name, F *out) {
    void *symbol = dlsym(handle, name);
    if (symbol == nullptr) return false;
    memcpy(out, &symbol, sizeof symbol);
    return true;
}

int find_interpreter(dl_phdr_info *program, size_t, void *) {  // of the first object alone
    for (int i = 0; i < program->dlpi_phnum; i++)
        if (program->dlpi_phdr[i].p_type == PT_INTERP) return 1;
    return -1;
}

bool open(Library *l) {
    // In a static program dlopen() would bring a second C library.
    if (dlsym == nullptr || each_object(find_interpreter, nullptr) != 1) return false;
    decltype(&dlopen) load;
    if (!get(RTLD_DEFAULT, "dlopen", &load)) return false;
    void *handle = load("libunwind-" HC_TEXT(UNW_TARGET) ".so.8", RTLD_NOW | RTLD_LOCAL);
    return handle != nullptr && get(handle, HC_TEXT(unw_create_addr_space), &l->create_addr_space) &&
           get(handle, HC_TEXT(unw_init_remote), &l->init_remote) && get(handle, HC_TEXT(unw_step), &l->step) &&
           get(handle, HC_TEXT(unw_get_reg), &l->get_reg) &&
           get(handle, HC_TEXT(unw_is_signal_frame), &l->is_signal_frame) &&
           get(handle, HC_TEXT(UNW_OBJ(dwarf_search_unwind_table)), &l->search_unwind_table);
}

// ---- What libunwind asks for.

// Pages of code and of tables, as they are read: libunwind reads words, and each would be a system call. Not read
// directly, for a library may be unloaded at any moment.
class Pages {
  public:
    void forget() {
        for (Page &p : pages_) p.number = kNone;
    }
    bool read(uintptr_t address, unw_word_t *out) {
        const uintptr_t number = address / kSize;
        Page &p = pages_[number % kPages];
        if (p.number != number) {
            p.number = kNone;
            if (memory::peek(p.bytes, number * kSize, kSize) != kSize) return false;
            p.number = number;
        }
        memcpy(out, p.bytes + address % kSize, sizeof *out);  // libunwind's words are aligned
        return true;
    }

  private:
    static constexpr size_t kSize = 4096, kPages = 64;
    static constexpr uintptr_t kNone = 0;  // nothing is mapped there
    struct Page {
        uintptr_t number;
        unsigned char bytes[kSize];
    };
    Page pages_[kPages];
};

unw_addr_space_t space = nullptr;
Objects objects;
Pages pages;
bool no_table;  // found for an address; libunwind then guesses, and may take it for the end

int find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *out, int need_info, void *arg) {
    const Object *o = objects.at(ip);
    no_table = true;
    if (o == nullptr || o->header == 0) return -UNW_ENOINFO;
    unw_dyn_info_t table{};
    table.format = UNW_INFO_FORMAT_REMOTE_TABLE;
    table.start_ip = o->low;
    table.end_ip = o->high;
    table.u.rti.segbase = o->header;
    table.u.rti.table_data = o->table;
    table.u.rti.table_len = o->entries * 8 / sizeof(unw_word_t);
    const int r = library.search_unwind_table(as, ip, &table, out, need_info, arg);
    no_table = r < 0;
    return r;
}

// The copied piece, and what is loaded. Nothing else: what lies beyond the piece has changed since.
int access_mem(unw_addr_space_t, unw_word_t address, unw_word_t *value, int write, void *arg) {
    const auto *copy = static_cast<const Copy *>(arg);
    if (write != 0) return -UNW_EINVAL;
    if (address - copy->base < copy->size) {
        if (copy->size - (address - copy->base) < sizeof *value) return -UNW_EINVAL;
        memcpy(value, copy->bytes + (address - copy->base), sizeof *value);
        return 0;
    }
    return address % sizeof *value == 0 && objects.at(address) != nullptr && pages.read(address, value) ? 0
                                                                                                        : -UNW_EINVAL;
}

int access_reg(unw_addr_space_t, unw_regnum_t n, unw_word_t *value, int write, void *arg) {
    if (write != 0 || n < 0 || static_cast<unsigned>(n) >= Copy::kRegisters) return -UNW_EBADREG;
    *value = static_cast<const Copy *>(arg)->registers[n];
    return 0;
}

void put_unwind_info(unw_addr_space_t, unw_proc_info_t *, void *) {}
int no_dynamic_list(unw_addr_space_t, unw_word_t *, void *) { return -UNW_ENOINFO; }
int no_fpreg(unw_addr_space_t, unw_regnum_t, unw_fpreg_t *, int, void *) { return -UNW_EBADREG; }
int no_resume(unw_addr_space_t, unw_cursor_t *, void *) { return -UNW_EINVAL; }

// The bits of a return address that AArch64 may have signed.
uintptr_t plain(uintptr_t ip) {
#if defined(__aarch64__)
    return ip & ((uintptr_t{1} << 48) - 1);
#else
    return ip;
#endif
}

}  // namespace

bool usable() {
    Found f = found.load(memory_order_acquire);  // pairs with the release below
    if (f == kUnknown) {
        KeepErrno keep;
        // Without our lock: the loader has one of its own, and whoever holds that may be about to come here.
        Library l{};
        f = open(&l) ? kYes : kNo;
        Locked guard(publishing);
        if (found.load(memory_order_relaxed) == kUnknown) {
            library = l;
            found.store(f, memory_order_release);
        }
        f = found.load(memory_order_relaxed);
    }
    return f == kYes;
}

bool begin() {
    if (space == nullptr) {
        // Newer libraries copy a longer struct than our header's, and take zeros for what is not there.
        union {
            unw_accessors_t ours;
            unsigned char theirs[sizeof(unw_accessors_t) + 256];
        } a{};
        memset(&a, 0, sizeof a);
        a.ours = {find_proc_info, put_unwind_info, no_dynamic_list, access_mem,
                  access_reg,     no_fpreg,        no_resume,       nullptr};
        space = library.create_addr_space(&a.ours, 0);
        // libunwind caches nothing there, unless it is told to: so it has no lock that the child of a fork could find
        // held, but for its pools'.
    }
    pages.forget();
    return space != nullptr && objects.load();
}

uint32_t callers(const Copy &copy, uintptr_t *frames, uint32_t most, bool *cut) {
    unw_cursor_t cursor;
    unw_word_t ip = 0;
    *cut = false;
    if (most == 0 || library.init_remote(&cursor, space, const_cast<Copy *>(&copy)) < 0) return 0;
    bool exact = true;  // the instruction that is executed, not the one after a call
    for (uint32_t n = 0;;) {
        // On AArch64 UNW_REG_IP is the link register: of a caller that is where it goes on, of what was interrupted it
        // is not.
        if (library.get_reg(&cursor, exact ? int{Copy::kIp} : int{UNW_REG_IP}, &ip) < 0 || ip == 0) return n;
        if (n == most) {
            *cut = true;
            return n;
        }
        // The kernel's own frame, and what it has interrupted, were not left by a call.
        const bool signal = library.is_signal_frame(&cursor) > 0;
        frames[n++] = plain(ip) - (exact || signal ? 0 : 1);
        exact = signal;
        no_table = false;
        const int more = library.step(&cursor);
        if (more > 0) continue;
        *cut = more < 0 || no_table;
        return n;
    }
}

}  // namespace hc::unwind
