#include "memory/peek.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace {
// Pages with a hole behind the first `n` of them.
struct Mapped {
    explicit Mapped(size_t n) : page(static_cast<size_t>(sysconf(_SC_PAGESIZE))), size(n * page) {
        p = static_cast<char *>(mmap(nullptr, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        for (size_t i = 0; i < size; i++) p[i] = static_cast<char>(i * 7 + i / 251);
        mprotect(p + size, page, PROT_NONE);
    }
    ~Mapped() { munmap(p, size + page); }
    size_t page, size;
    char *p;
};
uintptr_t at(const char *p) { return reinterpret_cast<uintptr_t>(p); }
}  // namespace

TEST(Peek, ReadsWhatIsThere) {
    const Mapped m(40);
    std::vector<char> out(m.size);
    for (size_t from : {size_t{0}, size_t{1}, size_t{4095}, size_t{5000}})
        for (size_t n : {size_t{0}, size_t{1}, size_t{4096}, size_t{65'536}, m.size - from}) {
            EXPECT_EQ(hc::memory::peek(out.data(), at(m.p + from), n), n);
            EXPECT_EQ(memcmp(out.data(), m.p + from, n), 0);
        }
}

TEST(Peek, StopsWhereNothingIs) {
    const Mapped m(3);
    std::vector<char> out(2 * m.size, 'x');
    EXPECT_EQ(hc::memory::peek(out.data(), at(m.p + 10), 2 * m.size - 10), m.size - 10);
    EXPECT_EQ(memcmp(out.data(), m.p + 10, m.size - 10), 0);
    EXPECT_EQ(out[m.size], 'x');
}

TEST(Peek, ReadsNothingWhereNothingIs) {
    char out[16];
    const Mapped m(1);
    errno = 12345;
    EXPECT_EQ(hc::memory::peek(out, 0, sizeof out), 0u);
    EXPECT_EQ(hc::memory::peek(out, UINTPTR_MAX - 8, sizeof out), 0u);
    EXPECT_EQ(hc::memory::peek(out, at(m.p + m.size), sizeof out), 0u);
    EXPECT_EQ(errno, 12345);
}
