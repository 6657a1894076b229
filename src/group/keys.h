// Where the lines of a group are: in shards, each with a lock, its keys that have work, and memory for lines and their tasks. Made at the
// first use of an order; a key without work costs nothing.
#pragma once
#include "group/line.h"
#include "memory/slabs.h"
#include "sync/lock.h"
#include "sync/mutex.h"
namespace hc {

struct alignas(64) LineShard {
    // What each submit and each turn needs is on one cache line.
    Lock lock;
    // Under the lock:
    Plain<uint32_t> lines{0};  // of keys
    Plain<uint32_t> size{0};   // buckets: a power of 2, or 0
    Line **buckets = nullptr;
    // Written under the lock, read by anyone:
    Atomic<uint64_t> accepted{0}, ended{0};        // tasks; the latter have run or were handed back,
    Atomic<uint64_t> pushed{0}, entries_ended{0};  // entries in lanes; the same of them,
    Group *group = nullptr;
    Atomic<uint64_t> handed_back{0}, entries_back{0};  // and these are those that were handed back
    // Under the lock:
    Slabs<Line> line_slabs;
    Slabs<Block> block_slabs;

    LineShard() = default;
    ~LineShard() { memory::destroy_array(buckets, size); }
    LineShard(const LineShard &) = delete;

    Line *line_of(uint64_t key, uint64_t hash);  // made now if need be; nullptr: no memory
    void forget(Line *l);                        // a key's, that is idle
    void trim();

  private:
    bool resize(uint32_t n);
};

class Keys {
  public:
    static constexpr uint32_t kBits = 6;
#ifdef HC_SYNC_MODEL
    static constexpr uint32_t kShards = 1;
#else
    static constexpr uint32_t kShards = 1 << kBits;
#endif
    // The header says how, for those who are bound to a worker.
    static uint64_t hash(uint64_t key) {
        const uint64_t h = (key ^ key >> 32) * 0x9e3779b97f4a7c15;
        return h ^ h >> 32;
    }
    explicit Keys(Group *g) {
        for (auto &s : shards_) s.group = g;
    }
    LineShard &any_shard() { return shards_[turn_.fetch_add(1, memory_order_relaxed) % kShards]; }  // of a serial
    LineShard &shard(uint64_t hash) { return shards_[hash % kShards]; }
    template <class F>
    void each(F &&f) {
        for (auto &s : shards_) f(s);
    }
    void close();  // nothing is added any more but by who has a line, or takes a turn

  private:
    LineShard shards_[kShards];
    Atomic<uint32_t> turn_{0};
};

}  // namespace hc
