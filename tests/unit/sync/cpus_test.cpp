#include "sync/cpus.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "tree.h"

namespace hc {

static bool operator==(const Cpus &a, const Cpus &b) { return a.count == b.count && a.from == b.from; }
static void PrintTo(const Cpus &c, std::ostream *out) { *out << c.count << " from " << static_cast<uint32_t>(c.from); }

}  // namespace hc

namespace {

using hc::Cpus, hc::CpusFrom;

// A machine of these CPUs, with the quota of a fixture.
Cpus found(uint32_t affinity, const char *online, const char *fixture = "v2_none", const char *environment = nullptr) {
    Tree::Files files = Tree::fixture(fixture);
    if (online != nullptr) files["sys/devices/system/cpu/online"] = online;
    Tree tree(files);
    return hc::find_cpus({affinity, environment, tree.root()});
}

class Cpu : public testing::Test {
  protected:
    Cpu() {
        unsetenv("HOMECOOKING_CPUS");
        sched_getaffinity(0, sizeof before_, &before_);
    }
    ~Cpu() override {
        unsetenv("HOMECOOKING_CPUS");
        sched_setaffinity(0, sizeof before_, &before_);
    }
    cpu_set_t before_;
};

}  // namespace

TEST_F(Cpu, TheFewestCountsAndSaysWhatItWas) {
    EXPECT_EQ(found(8, "0-7\n"), (Cpus{8, CpusFrom::kOnline}));
    EXPECT_EQ(found(5, "0-7\n"), (Cpus{5, CpusFrom::kAffinity}));
    EXPECT_EQ(found(8, "0-3\n"), (Cpus{4, CpusFrom::kOnline}));
    EXPECT_EQ(found(8, "0-7\n", "v2_leaf"), (Cpus{3, CpusFrom::kQuota}));
    EXPECT_EQ(found(2, "0-7\n", "v2_leaf"), (Cpus{2, CpusFrom::kAffinity}));
    EXPECT_EQ(found(8, "0,1\n", "v2_leaf"), (Cpus{2, CpusFrom::kOnline}));
    EXPECT_EQ(found(8, "0-7\n", "v2_half"), (Cpus{1, CpusFrom::kQuota}));
    EXPECT_EQ(found(8, "0-7\n", "v1_leaf"), (Cpus{3, CpusFrom::kQuota}));
}

TEST_F(Cpu, WhatLimitsNothingIsNotNamed) {
    EXPECT_EQ(found(3, "0-7\n", "v2_leaf"), (Cpus{3, CpusFrom::kAffinity}));
    EXPECT_EQ(found(3, "0-2\n", "v2_leaf"), (Cpus{3, CpusFrom::kOnline}));
    EXPECT_EQ(found(1, "0\n", "v2_half"), (Cpus{1, CpusFrom::kOnline}));
}

TEST_F(Cpu, WhatIsUnknownLimitsNothing) {
    EXPECT_EQ(found(0, "0-7\n"), (Cpus{8, CpusFrom::kOnline}));
    EXPECT_EQ(found(6, nullptr), (Cpus{6, CpusFrom::kAffinity}));
    EXPECT_EQ(found(6, nullptr, "v2_leaf"), (Cpus{3, CpusFrom::kQuota}));
    EXPECT_EQ(found(0, nullptr).count, 1u);
    EXPECT_EQ(found(0, nullptr, "no_cgroup").count, 1u);
}

TEST_F(Cpu, OnlineIsAListOfRanges) {
    EXPECT_EQ(found(0, "0\n").count, 1u);
    EXPECT_EQ(found(0, "0-3,5,7-9").count, 8u);
    EXPECT_EQ(found(0, "0,2,4,6,8,10\n").count, 6u);
    EXPECT_EQ(found(0, "0-8191\n").count, 8192u);
    for (const char *bad :
         {"", "\n", "x", "-", "-3", "3-", "0-x", "5-2", ",", "0,,2", "0-3-5", "0 - 3", "0-99999999", "0-9999999999"}) {
        EXPECT_EQ(found(7, bad), (Cpus{7, CpusFrom::kAffinity})) << bad;
        EXPECT_EQ(found(0, bad).count, 1u) << bad;
    }
}

TEST_F(Cpu, TheEnvironmentTakesThePlaceOfAll) {
    EXPECT_EQ(found(8, "0-7\n", "v2_leaf", "6"), (Cpus{6, CpusFrom::kEnvironment}));
    EXPECT_EQ(found(8, "0-7\n", "v2_leaf", "1"), (Cpus{1, CpusFrom::kEnvironment}));
    EXPECT_EQ(found(8, "0-7\n", "v2_leaf", "4096"), (Cpus{4096, CpusFrom::kEnvironment}));
    for (const char *bad : {"", "0", "00", "-1", "+4", " 4", "4 ", "4\n", "four", "4x", "0x4", "1.5", "1e3", "4,4",
                            "4097", "65536", "4294967297", "18446744073709551617", "99999999999999999999999999"})
        EXPECT_EQ(found(8, "0-7\n", "v2_leaf", bad), (Cpus{3, CpusFrom::kQuota})) << bad;
}

TEST_F(Cpu, OfTheCallerFollowTheVariable) {
    const Cpus without = hc::find_cpus();
    EXPECT_NE(without.from, CpusFrom::kEnvironment);
    setenv("HOMECOOKING_CPUS", "37", 1);
    EXPECT_EQ(hc::find_cpus(), (Cpus{37, CpusFrom::kEnvironment}));
    EXPECT_EQ(hc::usable_cpus(), 37u);
    EXPECT_EQ(hc::affinity_cpus(), static_cast<uint32_t>(CPU_COUNT(&before_))) << "more cannot run at once";
    setenv("HOMECOOKING_CPUS", "0", 1);
    EXPECT_EQ(hc::find_cpus(), without);
}

TEST_F(Cpu, OfTheCallerAreThoseOfItsMaskNotTheMachine) {
    const uint32_t all = static_cast<uint32_t>(CPU_COUNT(&before_));
    EXPECT_EQ(hc::affinity_cpus(), all);
    EXPECT_GE(hc::usable_cpus(), 1u);
    EXPECT_LE(hc::usable_cpus(), all);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (size_t c = 0; c < CPU_SETSIZE; c++)
        if (CPU_ISSET(c, &before_)) {
            CPU_SET(c, &one);
            break;
        }
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(hc::usable_cpus(), 1u);
    EXPECT_EQ(hc::affinity_cpus(), 1u);
}

TEST_F(Cpu, AreFoundBySeveralThreadsAtOnceAndLeaveNothingBehind) {
    const auto descriptors = [] {
        return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                             std::filesystem::directory_iterator());
    };
    Tree tree([] {
        Tree::Files files = Tree::fixture("v1_ancestors");
        files["sys/devices/system/cpu/online"] = "0-63\n";
        return files;
    }());
    const Cpus real = hc::find_cpus();
    const auto before = descriptors();
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++)
        threads.emplace_back([&] {
            for (int i = 0; i < 200; i++) {
                errno = 4711;
                EXPECT_EQ(hc::find_cpus({64, nullptr, tree.root()}), (Cpus{2, CpusFrom::kQuota}));
                EXPECT_EQ(hc::find_cpus(), real);
                EXPECT_EQ(errno, 4711);
            }
        });
    for (auto &t : threads) t.join();
    EXPECT_EQ(descriptors(), before);
}
