// A machine on which libunwind is not installed: this program's dlopen finds nothing.
#include <gtest/gtest.h>

#include "homecooking/homecooking.h"
#include "observe/stack.h"
#include "sync/clock.h"

static int calls = 0;
extern "C" __attribute__((visibility("default"))) void *dlopen(const char *, int) noexcept {
    calls++;
    return nullptr;
}

TEST(Absent, ThereAreNoStacksAndItSaysSo) {
    EXPECT_EQ(hc_features() & HC_FEATURE_STACKS, 0u);
    EXPECT_EQ(hc_signal_set(0, SIGURG), HC_ENOTSUP);
    struct sigaction now;
    sigaction(SIGURG, nullptr, &now);
    EXPECT_EQ(now.sa_handler, SIG_DFL);
    uintptr_t frame;
    uint32_t n = 7;
    EXPECT_EQ(hc::take_stack(hc::thread_id(), hc::after(1'000'000), &frame, 1, &n), hc::Stack::kUnsupported);
    EXPECT_EQ(n, 0u);
    EXPECT_LE(calls, 1);  // it is looked for once
}
