// Stacks of threads that can be asked, wherever they are.
#include "observe/stack.h"

#include <dlfcn.h>
#include <link.h>
#include <poll.h>
#include <semaphore.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

#include "homecooking/homecooking.h"
#include "threads.h"

using hc::Stack;

NAMED void test_nap(const std::atomic<bool> &stop) {
    while (!stop) {
        const timespec t{0, 1'000'000};
        nanosleep(&t, nullptr);
    }
}
static std::atomic<uint64_t> work;
NAMED void test_spin(const std::atomic<bool> &stop) {
    while (!stop) work.fetch_add(1, std::memory_order_relaxed);
}
NAMED void test_allocate(const std::atomic<bool> &stop) {
    void *volatile block;
    while (!stop) {
        for (size_t size : {24u, 5000u, 200'000u}) {
            block = malloc(size);
            free(block);
        }
    }
}
static int count_objects(dl_phdr_info *, size_t, void *n) {
    ++*static_cast<int *>(n);
    return 0;
}
NAMED void test_load(const std::atomic<bool> &stop) {
    while (!stop) {
        int n = 0;
        dl_iterate_phdr(count_objects, &n);
        if (void *handle = dlopen("libanl.so.1", RTLD_NOW | RTLD_LOCAL)) dlclose(handle);
    }
}
NAMED void test_throw_one(int n) {
    if (n > 0) throw std::runtime_error("thrown by the test");
}
NAMED void test_throw(const std::atomic<bool> &stop) {
    while (!stop) try {
            test_throw_one(1);
        } catch (const std::runtime_error &) {
        }
}

TEST(Stack, IsUnsupportedUntilASignalIsLent) {
    if (hc::dump_signal() != 0) GTEST_SKIP() << "one was lent by another test of this process";
    EXPECT_EQ(take(hc::thread_id()).result, Stack::kUnsupported);
}

TEST(Stack, OfAThreadThatSleeps) {
    NEEDS_STACKS();
    Subject s(test_nap);
    const Taken t = take_in(s.id(), "test_nap");
    EXPECT_EQ(t.result, Stack::kTaken);
    if (kSignalsAreLate) return;
    EXPECT_FALSE(t.cut) << t.names;
    EXPECT_GE(t.frames.size(), 3u) << t.names;
}

TEST(Stack, OfAThreadThatComputes) {
    NEEDS_STACKS();
    Subject s(test_spin);
    const Taken t = take_in(s.id(), "test_spin");
    EXPECT_EQ(t.result, Stack::kTaken);
    if (!kSignalsAreLate) {
        EXPECT_FALSE(t.cut) << t.names;
    }
}

TEST(Stack, OfTheCaller) {
    NEEDS_STACKS();
    const Taken t = take(hc::thread_id());
    EXPECT_EQ(t.result, Stack::kTaken);
    if (!kSignalsAreLate) {
        EXPECT_TRUE(t.in("main") || t.names.find("libc.so") != std::string::npos) << t.names;
    }
}

// ---- Threads that hold a lock which a careless handler would want.

// Whole: it goes on to where the thread was started. There are no tables for the first instructions of a library, nor
// on AArch64 for the jumps between libraries (it is then cut), and they say nothing true of the last ones of the
// unwinder itself, when it jumps to who catches.
static void ask_often(Subject::Body body, int times, int least_percent) {
    Subject s(body);
    int whole = 0;
    for (int i = 0; i < times; i++) {
        const Taken t = take(s.id());
        ASSERT_EQ(t.result, Stack::kTaken);
        ASSERT_GE(t.frames.size(), 1u);
        whole += !t.cut && t.names.find("_State_impl") != std::string::npos;
    }
    if (!kSignalsAreLate) {
        EXPECT_GE(whole, times * least_percent / 100);
    }
    printf("%d of %d are whole\n", whole, times);
}
TEST(Stack, OfAThreadThatAllocates) {
    NEEDS_STACKS();
    ask_often(test_allocate, kSlow ? 1'000 : 10'000, 80);
}
TEST(Stack, OfAThreadInTheLoader) {
    NEEDS_STACKS();
    ask_often(test_load, kSlow ? 300 : 3'000, 1);
}
TEST(Stack, OfAThreadThatThrows) {
    NEEDS_STACKS();
    ask_often(test_throw, kSlow ? 300 : 3'000, 1);
}

// ---- Odd stacks.

NAMED int test_deep(const std::atomic<bool> &stop, int levels) {
    volatile char room[200];
    for (char volatile &c : room) c = static_cast<char>(levels);
    if (levels == 0)
        test_nap(stop);
    else
        test_deep(stop, levels - 1);
    return room[0];
}
TEST(Stack, EndsWhereTheRoomEnds) {
    NEEDS_STACKS();
    Subject s([](const std::atomic<bool> &stop) { test_deep(stop, 50); });
    take_in(s.id(), "test_nap");
    const Taken t = take(s.id(), 20 * kSecond, 10);
    if (kSignalsAreLate) return;
    EXPECT_TRUE(t.cut);
    EXPECT_EQ(t.frames.size(), 10u);
    EXPECT_FALSE(take(s.id()).cut);
}
TEST(Stack, EndsWhereTheCopyEnds) {
    NEEDS_STACKS();
    Subject s([](const std::atomic<bool> &stop) { test_deep(stop, 2'000); });
    take_in(s.id(), "test_nap");
    const Taken t = take(s.id(), 20 * kSecond, 5'000);
    if (kSignalsAreLate) return;
    EXPECT_TRUE(t.cut);
    EXPECT_GT(t.frames.size(), 50u);
    EXPECT_LT(t.frames.size(), 2'000u);
}

static const std::atomic<bool> *stop_in_handler;
NAMED void test_handler(int) {
    test_nap(*stop_in_handler);
    work++;  // no tail call
}
NAMED void test_interrupted(const std::atomic<bool> &stop) {
    stop_in_handler = &stop;
    raise(SIGUSR1);
    work++;
}
TEST(Stack, GoesThroughAHandlerOfTheHost) {
    NEEDS_STACKS();
    struct sigaction a {
    }, before;
    a.sa_handler = test_handler;
    sigaction(SIGUSR1, &a, &before);
    {
        Subject s(test_interrupted);
        const Taken t = take_in(s.id(), "test_nap");
        if (!kSignalsAreLate) {
            EXPECT_TRUE(t.in("test_handler")) << t.names;
            EXPECT_TRUE(t.in("test_interrupted")) << t.names;
        }
    }
    sigaction(SIGUSR1, &before, nullptr);
}

TEST(Stack, IsAnsweredOnTheAlternateStack) {
    NEEDS_STACKS();
    Subject s([](const std::atomic<bool> &stop) {
        std::vector<char> room(static_cast<size_t>(sysconf(_SC_SIGSTKSZ)) + (kSlow ? 65'536 : 0));
        stack_t other{}, none{};
        other.ss_sp = room.data();
        other.ss_size = room.size();
        none.ss_flags = SS_DISABLE;
        sigaltstack(&other, nullptr);
        test_nap(stop);
        sigaltstack(&none, nullptr);
    });
    const Taken t = take_in(s.id(), "test_nap");
    EXPECT_EQ(t.result, Stack::kTaken);
    if (!kSignalsAreLate) {
        EXPECT_FALSE(t.cut) << t.names;
    }
}

// ---- Many, and several who ask.

TEST(Stack, OfManyThreadsAtOnce) {
    NEEDS_STACKS();
    constexpr size_t kThreads = 64, kMost = 64;
    std::vector<std::unique_ptr<Subject>> subjects;
    std::vector<hc::StackOf> of;
    std::vector<uintptr_t> frames(kThreads * kMost);
    for (size_t i = 0; i < kThreads; i++) {
        subjects.push_back(std::make_unique<Subject>(i % 16 == 0 ? test_spin : test_nap));
        of.push_back({subjects[i]->id(), kMost, &frames[i * kMost]});
    }
    for (int round = 0; round < 5; round++) {
        const uint64_t before = hc::now();
        hc::take_stacks(of.data(), kThreads, hc::after(20 * kSecond));
        const uint64_t after = hc::now();
        size_t n = 0;
        for (const hc::StackOf &o : of) {
            EXPECT_EQ(o.result, Stack::kTaken);
            n += o.n;
        }
        printf("%zu threads, %zu frames: %.1f ms\n", kThreads, n, static_cast<double>(after - before) / 1e6);
    }
}
TEST(Stack, OfMoreThreadsThanAreAskedAtOnce) {
    NEEDS_STACKS();
    Subject a(test_nap), b(test_allocate);
    constexpr size_t kTimes = 300, kMost = 16;
    std::vector<hc::StackOf> of;
    std::vector<uintptr_t> frames(kTimes * kMost);
    for (size_t i = 0; i < kTimes; i++) of.push_back({i % 2 == 0 ? a.id() : b.id(), kMost, &frames[i * kMost]});
    hc::take_stacks(of.data(), kTimes, hc::after(20 * kSecond));
    for (const hc::StackOf &o : of) {
        EXPECT_EQ(o.result, Stack::kTaken);
        EXPECT_GT(o.n, 0u);
    }
}
TEST(Stack, CanBeAskedForBySeveral) {
    NEEDS_STACKS();
    Subject a(test_nap), b(test_allocate);
    std::vector<std::thread> askers;
    std::atomic<int> taken{0};
    const int times = kSlow ? 50 : 500;
    for (int i = 0; i < 4; i++)
        askers.emplace_back([&, i] {
            for (int k = 0; k < times; k++) taken += take((i + k) % 2 == 0 ? a.id() : b.id()).result == Stack::kTaken;
        });
    for (std::thread &t : askers) t.join();
    EXPECT_EQ(taken, 4 * times);
}

// ---- A worker.

static sem_t go_on;
static std::atomic<int32_t> worker;
NAMED void test_task(void *) {
    worker = hc::thread_id();
    while (sem_wait(&go_on) != 0) {
    }
    work++;
}
TEST(Stack, OfAWorkerThatStartedAfterwards) {
    NEEDS_STACKS();
    sem_init(&go_on, 0, 0);
    hc_group_options o = HC_GROUP_OPTIONS_INIT;
    o.max_workers = 1;
    hc_group *g = nullptr;
    ASSERT_EQ(hc_group_create(&g, &o), 0);
    ASSERT_EQ(hc_submit(g, test_task, nullptr), 0);
    while (worker == 0) std::this_thread::yield();
    const Taken t = take_in(worker, "test_task");
    EXPECT_EQ(t.result, Stack::kTaken);
    if (!kSignalsAreLate) {
        EXPECT_FALSE(t.cut) << t.names;
    }
    sem_post(&go_on);
    EXPECT_EQ(hc_group_destroy(g), 0);
}
