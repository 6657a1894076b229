#include "memory/hooks.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace {

struct Tally {
    size_t live = 0, calls = 0;
    bool refuse = false;
} tally;

void *tally_alloc(size_t size, size_t align, void *user) {
    auto *t = static_cast<Tally *>(user);
    if (t->refuse) return nullptr;
    t->calls++;
    t->live += size;
    return aligned_alloc(align, (size + align - 1) / align * align);
}
void tally_free(void *p, size_t size, size_t, void *user) {
    static_cast<Tally *>(user)->live -= size;
    free(p);
}

struct alignas(256) Wide {
    char c[256];
};
struct Thrower {
    Thrower() { throw std::bad_alloc(); }
};

}  // namespace

TEST(Hooks, EveryByteTakenComesBackWithItsSize) {
    ASSERT_TRUE(hc::memory::set_hooks(tally_alloc, tally_free, &tally));
    Wide *w = hc::memory::make<Wide>();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(w) % 256, 0u);
    EXPECT_EQ(tally.live, sizeof(Wide));
    hc::memory::destroy(w);
    EXPECT_EQ(tally.live, 0u);
}

TEST(Hooks, NoMemoryIsNullptrAndAThrowingConstructorLeaksNothing) {
    ASSERT_TRUE(hc::memory::set_hooks(tally_alloc, tally_free, &tally));
    EXPECT_EQ(hc::memory::make<Thrower>(), nullptr);
    EXPECT_EQ(tally.live, 0u);
    tally.refuse = true;
    EXPECT_EQ(hc::memory::make<Wide>(), nullptr);
    EXPECT_THROW(hc::memory::Allocator<int>().allocate(3), std::bad_alloc);
    tally.refuse = false;
}

TEST(Hooks, AreTooLateOnceFrozen) {
    ASSERT_TRUE(hc::memory::set_hooks(nullptr, nullptr, nullptr));
    hc::memory::freeze_hooks();
    EXPECT_FALSE(hc::memory::set_hooks(tally_alloc, tally_free, &tally));
}
