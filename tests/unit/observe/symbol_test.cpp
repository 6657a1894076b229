#include "observe/symbol.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace {
std::string name(uintptr_t ip, size_t size = 200) {
    std::string text(size, '#');
    hc::symbol(ip, text.data(), size);
    return text.c_str();
}
template <class F>
uintptr_t address(F *function) {
    return reinterpret_cast<uintptr_t>(function);
}
__attribute__((noinline)) int not_exported(int n) {
    asm volatile("");
    return n + 1;
}
}  // namespace

extern "C" __attribute__((noinline, visibility("default"))) int test_exported(int n) {
    asm volatile("");
    return n + 2;
}

TEST(Symbol, OfAnExportedFunction) {
    EXPECT_EQ(name(address(test_exported)), "test_exported+0x0 (unit_observe_symbol)");
    EXPECT_EQ(name(address(test_exported) + 1), "test_exported+0x1 (unit_observe_symbol)");
}

TEST(Symbol, OfALibrary) {
    const std::string text = name(address(getenv) + 2);
    EXPECT_NE(text.find("+0x2 (lib"), std::string::npos) << text;  // a sanitizer has its own
    EXPECT_NE(text.find("getenv"), std::string::npos) << text;
}

TEST(Symbol, IsTheModuleForOthers) {
    const std::string text = name(address(not_exported));
    EXPECT_EQ(text.find("unit_observe_symbol+0x"), 0u) << text;
}

TEST(Symbol, IsTheAddressOutsideOfCode) {
    EXPECT_EQ(name(0x12), "0x12");
    EXPECT_EQ(name(UINTPTR_MAX), "0xffffffffffffffff");
}

TEST(Symbol, IsCutToTheRoom) {
    EXPECT_EQ(name(address(test_exported), 5), "test");
    EXPECT_EQ(name(address(test_exported), 1), "");
}
