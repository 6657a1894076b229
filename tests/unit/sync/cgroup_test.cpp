#include "sync/cgroup.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "sync/lines.h"
#include "tree.h"

namespace {

uint32_t quota_in(const Tree::Files &files) {
    Tree tree(files);
    errno = 4711;
    const uint32_t quota = hc::quota_cpus(tree.root());
    EXPECT_EQ(errno, 4711);
    return quota;
}

struct Case {
    const char *name;
    uint32_t cpus;
};
void PrintTo(const Case &c, std::ostream *out) { *out << c.name; }

class CgroupCase : public testing::TestWithParam<Case> {};

}  // namespace

TEST_P(CgroupCase, GivesTheQuota) { EXPECT_EQ(quota_in(Tree::fixture(GetParam().name)), GetParam().cpus); }

INSTANTIATE_TEST_SUITE_P(Fixtures, CgroupCase,
                         testing::Values(Case{"v2_leaf", 3}, Case{"v2_grandparent", 2}, Case{"v2_smallest", 2},
                                         Case{"v2_none", hc::kNoQuota}, Case{"v2_fraction", 2}, Case{"v2_half", 1},
                                         Case{"v2_threaded", 2}, Case{"v2_deleted", 2}, Case{"v1_leaf", 3},
                                         Case{"v1_ancestors", 2}, Case{"v1_none", hc::kNoQuota}, Case{"v1_alone", 2},
                                         Case{"hybrid_v1", 3}, Case{"hybrid_v2", 4}, Case{"container_namespace", 3},
                                         Case{"container_namespace_below", 2}, Case{"bind_mount_v1", 2},
                                         Case{"bind_mount_below_v2", 5}, Case{"bind_mount_similar", hc::kNoQuota},
                                         Case{"namespace_mount_above", 3}, Case{"namespace_outside", hc::kNoQuota},
                                         Case{"namespace_both_outside", 3}, Case{"namespace_cousin", hc::kNoQuota},
                                         Case{"two_mounts", 3}, Case{"hidden_mount", 2}, Case{"escaped", 2},
                                         Case{"no_mount", hc::kNoQuota}, Case{"no_mountinfo", hc::kNoQuota},
                                         Case{"no_cgroup", hc::kNoQuota}, Case{"no_period", hc::kNoQuota},
                                         Case{"malformed_cgroup", hc::kNoQuota},
                                         Case{"malformed_mountinfo", hc::kNoQuota}, Case{"malformed_around", 3}),
                         [](const auto &it) { return std::string(it.param.name); });

TEST(Cgroup, NothingAtAllIsNoQuota) { EXPECT_EQ(quota_in({}), hc::kNoQuota); }

TEST(Cgroup, OfVersion2IsReadStrictly) {
    Tree::Files files = Tree::fixture("container_namespace");
    const auto with = [&](const std::string &text) {
        files["sys/fs/cgroup/cpu.max"] = text;
        return quota_in(files);
    };
    EXPECT_EQ(with("100000 100000\n"), 1u);
    EXPECT_EQ(with("100001 100000\n"), 2u);
    EXPECT_EQ(with("1 1000000"), 1u);
    EXPECT_EQ(with("18446744073709551615 18446744073709551615\n"), 1u);
    EXPECT_EQ(with("18446744073709551614 1\n"), hc::kNoQuota);
    for (const char *bad : {"", "\n", " ", "max", "100000", "100000 ", " 100000", "0 100000", "100000 0", "-1 100000",
                            "100000 -1", "+1 100000", "0x10 100000", "1e5 100000", "100000  100000", "100000 100000 1",
                            "99999999999999999999 100000", "100000\t100000"})
        EXPECT_EQ(with(bad), hc::kNoQuota) << bad;
    EXPECT_EQ(with(std::string(5000, '1') + " 100000\n"), hc::kNoQuota);
    EXPECT_EQ(with(std::string("1\0 100000", 9)), hc::kNoQuota);
}

TEST(Cgroup, OfVersion1IsReadStrictly) {
    Tree::Files files = Tree::fixture("bind_mount_v1");
    const std::string folder = "sys/fs/cgroup/cpu,cpuacct/";
    const auto with = [&](const std::string &quota, const std::string &period) {
        files[folder + "cpu.cfs_quota_us"] = quota;
        files[folder + "cpu.cfs_period_us"] = period;
        return quota_in(files);
    };
    EXPECT_EQ(with("200001\n", "100000\n"), 3u);
    EXPECT_EQ(with("1", "100000"), 1u);
    for (const char *bad : {"", "\n", "-1\n", "0\n", "max\n", "100000 100000\n", "1.5\n"})
        EXPECT_EQ(with(bad, "100000\n"), hc::kNoQuota) << bad;
    for (const char *bad : {"", "\n", "-1\n", "0\n", "max\n"}) EXPECT_EQ(with("100000\n", bad), hc::kNoQuota) << bad;
}

// An overlay of many layers makes a line of pages.
TEST(Cgroup, LongLinesHideNoneOfTheOthers) {
    Tree::Files files = Tree::fixture("v2_leaf");
    std::string &mounts = files["proc/self/mountinfo"], &cgroups = files["proc/self/cgroup"];
    for (size_t length : {1000u, 2000u, 2047u, 2048u, 2049u, 4096u, 100'000u}) {
        const std::string layers(length, 'l');
        Tree::Files longer = files;
        longer["proc/self/mountinfo"] = "1 2 0:5 / / rw - overlay overlay rw,lowerdir=" + layers + "\n" + mounts;
        longer["proc/self/cgroup"] = "9:name=" + layers + ":/\n" + cgroups;
        EXPECT_EQ(quota_in(longer), 3u) << length;
    }
}

// As deep as the kernel would allow; what does not fit is no quota, and not another's.
TEST(Cgroup, LongPathsAreWholeOrNothing) {
    for (size_t levels : {10u, 100u, 199u, 200u, 210u, 240u, 300u}) {
        std::string path;
        for (size_t i = 0; i < levels; i++) path += "/123456789";
        const Tree::Files files = {
            {"proc/self/cgroup", "0::" + path + "\n"},
            {"proc/self/mountinfo", "29 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n"},
            {"sys/fs/cgroup/cpu.max", "200000 100000\n"},
        };
        const uint32_t got = quota_in(files);
        EXPECT_TRUE(got == 2 || (got == hc::kNoQuota && levels >= 200)) << levels << ": " << got;
    }
}

TEST(Cgroup, ManyMountsAreAllLookedAt) {
    Tree::Files files = Tree::fixture("v2_leaf");
    std::string many;
    for (int i = 0; i < 500; i++)
        many += "1 2 0:" + std::to_string(i) + " / /mnt/" + std::to_string(i) + " rw - ext4 x rw\n";
    files["proc/self/mountinfo"].insert(0, many);
    EXPECT_EQ(quota_in(files), 3u);
}
