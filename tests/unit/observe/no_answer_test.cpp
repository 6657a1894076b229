// Threads that do not answer, or too late.
#include <sys/wait.h>
#include <unistd.h>

#include "observe/stack.h"
#include "threads.h"

using hc::Stack;

static std::atomic<bool> open_it;
static void set_mask(int how) {
    sigset_t s;
    sigemptyset(&s);
    sigaddset(&s, kSignal);
    pthread_sigmask(how, &s, nullptr);
}
NAMED void test_deaf(const std::atomic<bool> &stop) {
    set_mask(SIG_BLOCK);
    while (!stop) {
        usleep(200);
        if (open_it) set_mask(SIG_UNBLOCK);
    }
}
NAMED void test_nap(const std::atomic<bool> &stop) {
    while (!stop) usleep(200);
}
// Opens and closes its ears, so that answers come at all times, and late ones too.
NAMED void test_moody(const std::atomic<bool> &stop) {
    while (!stop) {
        set_mask(SIG_BLOCK);
        usleep(50);
        set_mask(SIG_UNBLOCK);
    }
}

static void until_deaf(int32_t id) {
    while (take(id, kSecond / 50).result == Stack::kTaken) {
    }
}

TEST(NoAnswer, OfAThreadThatHasTheSignalBlocked) {
    NEEDS_STACKS();
    open_it = false;
    Subject s(test_deaf);
    until_deaf(s.id());
    const uint64_t before = hc::now();
    EXPECT_EQ(take(s.id(), kSecond / 10).result, Stack::kNoAnswer);
    EXPECT_GE(hc::now() - before, kSecond / 10);
    open_it = true;  // the late answer finds no question, and the next question finds an answer
    EXPECT_EQ(take(s.id()).result, Stack::kTaken);
}

TEST(NoAnswer, HoldsUpNobodyElse) {
    NEEDS_STACKS();
    open_it = false;
    Subject deaf(test_deaf), other(test_nap);
    until_deaf(deaf.id());
    uintptr_t frames[200][4];
    std::vector<hc::StackOf> of;
    for (size_t i = 0; i < 200; i++) of.push_back({i % 10 == 0 ? deaf.id() : other.id(), 4, frames[i]});
    hc::take_stacks(of.data(), of.size(), hc::after(kSlow ? kSecond * 3 : kSecond));
    for (size_t i = 0; i < 200; i++) EXPECT_EQ(of[i].result, i % 10 == 0 ? Stack::kNoAnswer : Stack::kTaken) << i;
}

TEST(NoAnswer, AtADeadlineThatIsOver) {
    NEEDS_STACKS();
    open_it = false;
    Subject deaf(test_deaf);
    until_deaf(deaf.id());
    EXPECT_EQ(take(deaf.id(), 0).result, Stack::kNoAnswer);
}

TEST(NoAnswer, IsHarmlessWhenItComesLate) {
    NEEDS_STACKS();
    Subject a(test_moody), b(test_moody), c(test_nap);
    int taken = 0, not_taken = 0;
    uintptr_t frames[3][50];
    for (int i = 0; i < (kSlow ? 1'000 : 10'000); i++) {
        hc::StackOf of[] = {{a.id(), 50, frames[0]}, {b.id(), 50, frames[1]}, {c.id(), 50, frames[2]}};
        hc::take_stacks(of, 3, hc::after(static_cast<uint64_t>(i % 100) * 1'000));
        for (const hc::StackOf &o : of) (o.result == Stack::kTaken ? taken : not_taken)++;
    }
    printf("%d taken, %d not in time\n", taken, not_taken);
    EXPECT_GT(taken, 0);
    EXPECT_GT(not_taken, 0);
    EXPECT_EQ(take(a.id()).result, Stack::kTaken);
}

TEST(NoAnswer, OfAThreadThatHasEnded) {
    NEEDS_STACKS();
    Subject s(test_nap);
    s.end();
    // Its number may have been given away at once, but not to a thread of this process, which starts none.
    const uint64_t before = hc::now();
    EXPECT_EQ(take(s.id(), kSecond * 20).result, Stack::kNoAnswer);
    EXPECT_LT(hc::now() - before, kSecond * 10);
    EXPECT_EQ(take(0x7ffffff0).result, Stack::kNoAnswer);
}

TEST(NoAnswer, OfThreadsThatEndMeanwhile) {
    NEEDS_STACKS();
    for (int i = 0; i < (kSlow ? 100 : 1'000); i++) {
        Subject s([](const std::atomic<bool> &) {});
        const Stack r = take(s.id(), kSecond / 100).result;
        EXPECT_TRUE(r == Stack::kTaken || r == Stack::kNoAnswer);
    }
}

// Sent all the same, the signal would end the process.
TEST(NoAnswer, WhenTheHostHasTakenTheSignalBack) {
    NEEDS_STACKS();
    struct sigaction theirs {
    }, ours;
    theirs.sa_handler = SIG_DFL;
    sigaction(kSignal, &theirs, &ours);
    EXPECT_EQ(take(hc::thread_id()).result, Stack::kUnsupported);
    sigaction(kSignal, &ours, nullptr);
    EXPECT_EQ(take(hc::thread_id()).result, Stack::kTaken);
}

// ---- The child of a fork.

TEST(NoAnswer, OrOneInTheChildOfAForkWhileOthersAsk) {
    NEEDS_STACKS();
    if (kSignalsAreLate) GTEST_SKIP() << "TSan does not let the child of a fork start threads";
    Subject a(test_nap);
    std::atomic<bool> stop{false};
    std::thread asker([&] {
        while (!stop) take(a.id());
    });
    for (int i = 0; i < 50; i++) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(20);
            const Stack r = take(hc::thread_id()).result;  // unsupported, if the fork came in the middle of asking
            _exit(r == Stack::kTaken || r == Stack::kUnsupported ? 0 : 1);
        }
        int status = 0;
        waitpid(child, &status, 0);
        EXPECT_EQ(status, 0);
    }
    stop = true;
    asker.join();
}
