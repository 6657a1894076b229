// The tasks of a line: a queue that is all in one place while it is short, and costs one cache miss for a few tasks when it is long. The
// user brings the lock, and the memory for blocks.
//
//   head        the first. Who has the line reads it without the lock
//   blocks      of kBlock tasks each: first_ ... last_. Who may read what is in them: see Ahead
//   tail_       the last ones. When they are kBlock, and one more comes, they become a block
//
// Of the first block, or of tail_ if there is none, the first gone_ are out.
//
// Rule: a block does not change from when it is put in until pop() gives it back, but for the link of the last one. So who has the line, and
// alone calls pop(), may read without the lock the blocks that it knows to be there, and the links of all but the last of them.
#pragma once
#include <cstdint>

#include "queue/entry.h"
namespace hc {

#ifdef HC_SYNC_MODEL
constexpr uint8_t kBlock = 1;
#else
constexpr uint8_t kBlock = 3;
#endif

struct alignas(64) Block {
    Plain<void *> arg{nullptr};  // Slabs'; in a backlog: the next
    Entry of[kBlock];
    uint8_t place = 0;  // Slabs'

    Block *next() const { return static_cast<Block *>(static_cast<void *>(arg)); }
};

class Backlog {
  private:
    Plain<uint32_t> count_{0};
    Plain<uint8_t> gone_{0}, held_{0};
    Plain<Block *> first_{nullptr}, last_{nullptr};

  public:
    Entry head;

    uint32_t count() const { return count_; }
    void forget() { count_ = 0; }  // of one: who has added it takes it back
    bool needs_block() const { return held_ == kBlock && (first_ != nullptr || gone_ == 0); }

    void add(Entry e, Block *b) {  // b: if it needs one
        count_ = count_ + 1;
        if (count_ == 1) {
            head = e;
            return;
        }
        if (b != nullptr) {
            for (uint8_t i = 0; i < kBlock; i++) b->of[i] = tail_[i];
            if (first_ == nullptr)
                first_ = b;
            else
                last_->arg = b;
            last_ = b;
            held_ = 0;
        } else if (held_ == kBlock) {  // then there is no block before them, and some are out
            for (uint8_t i = gone_; i < kBlock; i++) tail_[i - gone_] = tail_[i];
            held_ = static_cast<uint8_t>(kBlock - gone_);
            gone_ = 0;
        }
        tail_[held_] = e;
        held_ = static_cast<uint8_t>(held_ + 1);
    }

    Block *pop() {  // the head. A block that is empty now, or nullptr
        count_ = count_ - 1;
        if (count_ == 0) return nullptr;
        Block *b = first_;
        head = b != nullptr ? b->of[gone_] : tail_[gone_];
        gone_ = static_cast<uint8_t>(gone_ + 1);
        if (b == nullptr) {
            if (gone_ == held_) gone_ = 0, held_ = 0;
            return nullptr;
        }
        if (gone_ != kBlock) return nullptr;
        gone_ = 0;
        first_ = b == last_ ? nullptr : b->next();
        return b;
    }

    // The tasks behind the head, as far as they are known.
    class Ahead {
      public:
        void look(const Backlog &l) {  // under the lock
            block_ = l.first_;
            at_ = l.gone_;
            in_blocks_ = block_ == nullptr ? 0 : l.count_ - 1 - l.held_;
            for (uint8_t i = 0; i < l.held_; i++) tail_[i] = l.tail_[i];
        }
        Entry next() {  // no more often than there are
            if (in_blocks_ == 0) return tail_[at_++];
            const Entry e = block_->of[at_++];
            in_blocks_--;
            if (at_ != kBlock) return e;
            at_ = 0;
            if (in_blocks_ != 0) block_ = block_->next();
            return e;
        }

      private:
        const Block *block_ = nullptr;
        uint32_t in_blocks_ = 0;
        uint8_t at_ = 0;
        Entry tail_[kBlock];
    };

  private:
    Entry tail_[kBlock];
};

}  // namespace hc
