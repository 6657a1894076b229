#include "sync/thread.h"

#include <gtest/gtest.h>

#include <string>

namespace {

std::string name_after(const char *name, uint32_t index) {
    struct Job {
        const char *name;
        uint32_t index;
        char got[16];
    } job{name, index, {}};
    hc::Thread t;
    EXPECT_TRUE(hc::thread_start(
        &t,
        [](void *p) -> void * {
            auto *j = static_cast<Job *>(p);
            hc::thread_name(j->name, j->index);
            pthread_getname_np(pthread_self(), j->got, sizeof j->got);
            return nullptr;
        },
        &job, 0));
    hc::thread_join(t);
    return job.got;
}

}  // namespace

TEST(Thread, NamesKeepTheirIndexWhateverTheLength) {
    EXPECT_EQ(name_after("hc", 3), "hc-3");
    EXPECT_EQ(name_after("a-very-long-group-name", 7), "a-very-long-g-7");
    EXPECT_EQ(name_after("a-very-long-group-name", 4095), "a-very-lon-4095");
    EXPECT_EQ(name_after("", 0), "-0");
}

TEST(Thread, StartsWithAsynchronousSignalsBlockedAndLeavesTheCallersMask) {
    sigset_t before = hc::thread_signals();
    sigset_t inside;
    hc::Thread t;
    ASSERT_TRUE(hc::thread_start(
        &t,
        [](void *p) -> void * {
            *static_cast<sigset_t *>(p) = hc::thread_signals();
            return nullptr;
        },
        &inside, 1 << 17));
    hc::thread_join(t);
    EXPECT_TRUE(sigismember(&inside, SIGINT));
    EXPECT_TRUE(sigismember(&inside, SIGALRM));
    EXPECT_FALSE(sigismember(&inside, SIGSEGV));
    const sigset_t after = hc::thread_signals();
    for (int s = 1; s < 32; s++) EXPECT_EQ(sigismember(&before, s), sigismember(&after, s));
}

TEST(Thread, HasAMebibyteOfStackThoughTheSystemsDefaultIsSmaller) {
    pthread_attr_t small, before;
    ASSERT_EQ(pthread_getattr_default_np(&before), 0);
    ASSERT_EQ(pthread_getattr_default_np(&small), 0);
    ASSERT_EQ(pthread_attr_setstacksize(&small, 128 * 1024), 0);
    ASSERT_EQ(pthread_setattr_default_np(&small), 0);
    size_t size = 0;
    hc::Thread t;
    EXPECT_TRUE(hc::thread_start(
        &t,
        [](void *out) -> void * {
            pthread_attr_t own;
            if (pthread_getattr_np(pthread_self(), &own) != 0) return nullptr;
            pthread_attr_getstacksize(&own, static_cast<size_t *>(out));
            pthread_attr_destroy(&own);
            return nullptr;
        },
        &size, 0));
    hc::thread_join(t);
    EXPECT_GE(size, size_t{1} << 20);
    EXPECT_EQ(pthread_setattr_default_np(&before), 0);
    pthread_attr_destroy(&small);
    pthread_attr_destroy(&before);
}
