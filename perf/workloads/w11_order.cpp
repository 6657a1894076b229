// W11, order: 8 threads submit 500 000 tasks each (--quick 50 000), as fast as they can. Each task adds 1 to the counter of its key, one of
// 100 000, which nothing but the order protects: no atomic, no lock. The keys are random, from a generator with a fixed seed. One task in
// 32 is for the same key of all, in the case `skewed`.
//
//     hc         hc_submit_keyed(), HC_KEY_PLAIN
//     sticky     HC_KEY_STICKY
//     serials    an hc_serial for each key, made beforehand
//     asio       an asio::strand for each key, made beforehand, on a thread_pool: post()
//     floor      hc_submit(), with an atomic counter: what the tasks cost without an order
//
// The time runs from the opening of the gate to the end of the last task; whoever brings a counter to the number of its key's tasks
// says so. Every counter is looked at afterwards. The median of 5 rounds, all systems in turn; the pools live through all of them.
#include <memory>
#include <thread>

#include "../harness/clock.h"
#include "../harness/fail.h"
#include "../harness/futex.h"
#include "../harness/rounds.h"
#include "../harness/workload.h"
#include "../peers/hc.h"
#include "contention.h"
#ifdef PERF_HAVE_ASIO
#include "../peers/asio.h"

#include <asio/strand.hpp>
#endif

namespace perf {
namespace {

constexpr unsigned order_keys = 100'000, order_submitters = 8;

struct Ledger {
    struct alignas(64) Account {
        uint64_t count = 0;
        uint64_t target = 0;
        Ledger *ledger = nullptr;
        std::atomic<uint64_t> shared{0};  // floor

        void reached(uint64_t n) {
            if (n == target) ledger->all->arrive();
        }
    };
    std::vector<Account> accounts;
    std::vector<std::vector<uint32_t>> keys;  // of each submitter
    std::unique_ptr<Countdown> all;  // keys that are not done

    Ledger(uint64_t tasks, bool skewed) : accounts(order_keys), keys(order_submitters) {
        uint64_t seed = 1;
        for (auto &mine : keys)
            for (uint64_t i = 0; i < tasks; ++i) {
                uint64_t z = seed += 0x9e3779b97f4a7c15;  // splitmix64
                z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
                z = (z ^ z >> 27) * 0x94d049bb133111eb;
                z ^= z >> 31;
                mine.push_back(skewed && i % 32 == 0 ? 0 : static_cast<uint32_t>(z % order_keys));
                ++accounts[mine.back()].target;
            }
        for (Account &a : accounts) a.ledger = this;
    }
    unsigned used() const {
        unsigned n = 0;
        for (const Account &a : accounts) n += a.target != 0;
        return n;
    }
};

void add_one(void *arg) {
    auto &a = *static_cast<Ledger::Account *>(arg);
    a.reached(++a.count);
}
void add_one_shared(void *arg) {
    auto &a = *static_cast<Ledger::Account *>(arg);
    a.reached(a.shared.fetch_add(1, std::memory_order_relaxed) + 1);
}

// submit(key, account) by each submitter.
template <class Submit>
Sample round(Ledger &ledger, Submit submit, bool shared = false) {
    for (auto &a : ledger.accounts) a.count = a.shared = 0;
    ledger.all = std::make_unique<Countdown>(ledger.used());
    Countdown ready(order_submitters);
    Gate start;
    std::vector<std::jthread> threads;
    for (auto &mine : ledger.keys)
        threads.emplace_back([&] {
            ready.arrive();
            start.wait();
            for (uint32_t key : mine) submit(key, &ledger.accounts[key]);
        });
    ready.wait();
    const uint64_t begin = now_ns();
    start.open();
    if (!ledger.all->wait_for(patience)) fail("order: " + std::to_string(ledger.all->left()) + " keys are not done");
    const uint64_t end = now_ns();
    threads.clear();
    for (auto &a : ledger.accounts)
        if ((shared ? a.shared.load() : a.count) != a.target) fail("order: a counter is wrong: two of its tasks have overlapped");
    return {ms(begin, end)};
}

void check(int error) {
    if (error < 0) fail(std::string("order: ") + hc_strerror(error));
}

struct Serials {
    explicit Serials(unsigned workers) : pool(workers), all(order_keys) {
        for (hc_serial *&s : all) check(hc_serial_create(pool.group(), &s));
    }
    ~Serials() {
        for (hc_serial *s : all) hc_serial_unref(s);
    }
    Hc pool;
    std::vector<hc_serial *> all;
};

#ifdef PERF_HAVE_ASIO
struct Strands {
    using Strand = asio::strand<asio::thread_pool::executor_type>;
    explicit Strands(unsigned workers) : pool(workers) {
        all.reserve(order_keys);
        for (unsigned i = 0; i < order_keys; ++i) all.emplace_back(pool.get_executor());
    }
    ~Strands() { pool.join(); }
    asio::thread_pool pool;
    std::vector<Strand> all;
};
#endif

void one_case(const Options &o, Sheet &sheet, unsigned workers, bool skewed) {
    auto ledger = std::make_shared<Ledger>(o.quick ? 50'000 : 500'000, skewed);
    const std::string kase = std::string(skewed ? "skewed, " : "") + std::to_string(workers) + " workers";
    std::vector<Entrant> entrants;
    auto plain = std::make_shared<Hc>(workers), sticky = std::make_shared<Hc>(workers), floor = std::make_shared<Hc>(workers);
    auto serials = std::make_shared<Serials>(workers);
    const auto keyed = [ledger](std::shared_ptr<Hc> pool, uint32_t mode) {
        return [=] {
            return round(*ledger, [&](uint32_t key, void *arg) { check(hc_submit_keyed(pool->group(), key, mode, add_one, arg)); });
        };
    };
    entrants.push_back({"floor", [=] {
                            return round(*ledger, [&](uint32_t, void *arg) { floor->submit(add_one_shared, arg); }, true);
                        }});
    entrants.push_back({"hc", keyed(plain, HC_KEY_PLAIN)});
    entrants.push_back({"sticky", keyed(sticky, HC_KEY_STICKY)});
    entrants.push_back({"serials", [=] {
                            return round(*ledger, [&](uint32_t key, void *arg) {
                                check(hc_serial_submit(serials->all[key], add_one, arg, nullptr));
                            });
                        }});
#ifdef PERF_HAVE_ASIO
    auto strands = std::make_shared<Strands>(workers);
    entrants.push_back({"asio", [=] {
                            return round(*ledger, [&](uint32_t key, void *arg) { asio::post(strands->all[key], [arg] { add_one(arg); }); });
                        }});
#endif
    interleave(entrants, Pace{o.quick ? 3u : 5u});
    for (const Entrant &e : entrants) sheet.add(kase, e.system, "wall", "ms", median(e.column(0)));
    add_contention(sheet, kase, "hc", plain->stats());
    sheet.at_least("asio wall in hc, " + kase, sheet.ratio(kase, "wall", "asio", "hc"), 5);
}

void run(const Options &o, Sheet &sheet) {
    for (unsigned workers : {2u, 8u, 64u}) one_case(o, sheet, workers, false);
    one_case(o, sheet, 8, true);
    sheet.add_ratios("wall", "floor");
}

const Workload w11("W11", "order: 8 submitters, 100 000 keys", run);

}  // namespace
}  // namespace perf
