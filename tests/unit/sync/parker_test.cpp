#include "sync/parker.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

TEST(Parker, ATokenGivenBeforeIsTakenWithoutSleeping) {
    hc::Parker p;
    p.unpark();
    p.unpark();  // two count once
    p.park();
}

TEST(Parker, EachParkEndsWithAnUnparkAndSeesWhatCameBefore) {
    hc::Parker there, back;
    int payload = 0;
    std::thread t([&] {
        for (int i = 1; i <= 20'000; i++) {
            there.park();
            ASSERT_EQ(payload, i);
            back.unpark();
        }
    });
    for (int i = 1; i <= 20'000; i++) {
        payload = i;
        there.unpark();
        back.park();
    }
    t.join();
}
