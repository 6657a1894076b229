// Which thread of a model goes on. Iterations take turns:
//   random      any of them, at each step: many short races
//   sticky      the same as before, mostly
//   priorities  of the threads, random; the running one's is lowered at a few random points (Burckhardt et al., "A Randomized
//               Scheduler with Probabilistic Guarantees of Finding Bugs"): one thread stands still for long
#ifndef HC_MODEL_SCHEDULER_H
#define HC_MODEL_SCHEDULER_H
#include "seam.h"
namespace hc::model {

template <rl::thread_id_t N>
class Scheduler : public rl::scheduler<Scheduler<N>, rl::scheduler_thread_info, N> {
    using Base = rl::scheduler<Scheduler<N>, rl::scheduler_thread_info, N>;

  public:
    using typename Base::shared_context_t, typename Base::thread_info_t;
    struct task_t {};
    using Base::Base;

    rl::thread_id_t iteration_begin_impl() {
        static const char *seed = getenv("HC_MODEL_SEED");
        random_ = this->iter_ + (seed == nullptr ? 0 : strtoull(seed, nullptr, 0) << 32);
        steps_ = 0;
        strategy_ = static_cast<Strategy>(this->iter_ % 3);
        keep_ = 2u << pick(4);
        for (int i = 0; i < N; i++) priority_[i] = i;
        for (int i = N - 1; i > 0; i--) std::swap(priority_[i], priority_[pick(i + 1)]);
        lowest_ = 0;
        points_ = 1 + this->iter_ / 3 % kPoints;
        for (unsigned i = 0; i < points_; i++) point_[i] = pick(16u << pick(std::bit_width(longest_ / 16) + 1));
        return switched(-1, running_or_best());
    }
    bool iteration_end_impl() {
        longest_ = std::max(longest_, steps_);
        return this->iter_ == this->params_.iteration_count;
    }

    rl::thread_id_t schedule_impl(rl::unpark_reason &reason, unsigned yield) {
        reason = rl::unpark_reason_normal;
        const unsigned timed = this->timed_thread_count_, spurious = this->spurious_thread_count_;
        const bool running = this->running_threads_count != 0;
        if (timed != 0) {
            const unsigned i = pick(running ? timed * 8 : timed);
            if (i < timed) return wake(this->timed_threads_[i]->index_, rl::unpark_reason_timeout, reason);
        }
        if (spurious != 0 && running) {
            const unsigned i = pick(spurious * 16);
            if (i < spurious) return wake(this->spurious_threads_[i]->index_, rl::unpark_reason_spurious, reason);
        }
        steps_++;
        const rl::thread_id_t self = this->thread_->index_;
        bool lower = yield != 0 || steps_ % 256 == 0;  // the second: against loops that wait without a yield
        for (unsigned i = 0; i < points_; i++) lower = lower || point_[i] == steps_;
        if (lower) priority_[self] = --lowest_;
        return switched(self, running_or_best());
    }

    unsigned rand_impl(unsigned limit, rl::sched_type) { return pick(limit); }
    rl::iteration_t iteration_count_impl() { return this->params_.iteration_count; }
    // relacy plays a failed iteration again, to write down its history.
    void get_state_impl(std::ostream &s) { s << longest_ << " "; }
    void set_state_impl(std::istream &s) { s >> longest_; }
    void on_thread_block(rl::thread_id_t, bool) {}

  private:
    static constexpr unsigned kPoints = 4;

    // SplitMix64. relacy's own generator gives neighbouring iterations much the same numbers.
    unsigned pick(unsigned n) {
        uint64_t x = random_ += 0x9e3779b97f4a7c15;
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
        x = (x ^ x >> 27) * 0x94d049bb133111eb;
        return static_cast<unsigned>((x ^ x >> 31) >> 32) % n;
    }

    rl::thread_id_t wake(rl::thread_id_t i, rl::unpark_reason why, rl::unpark_reason &reason) {
        const rl::thread_id_t self = this->thread_->index_;
        this->unpark_thread(i);
        reason = why;
        return switched(self, i);
    }
    static rl::thread_id_t switched(rl::thread_id_t from, rl::thread_id_t to) {
        if (machine.at_switch != nullptr && from != to) machine.at_switch(from, to);
        return to;
    }
    rl::thread_id_t running_or_best() {
        if (strategy_ == kSticky && this->thread_ != nullptr && this->thread_->state_ == rl::thread_state_running &&
            pick(keep_) != 0)
            return this->thread_->index_;
        if (strategy_ != kPriorities) return this->running_threads[pick(this->running_threads_count)];
        rl::thread_id_t best = this->running_threads[0];
        for (int i = 1; i < this->running_threads_count; i++)
            if (priority_[this->running_threads[i]] > priority_[best]) best = this->running_threads[i];
        return best;
    }

    uint64_t random_ = 0;
    enum Strategy { kRandom, kSticky, kPriorities } strategy_ = kRandom;
    unsigned keep_ = 0;  // sticky: one step in so many is a switch
    int priority_[N], lowest_ = 0;
    unsigned steps_ = 0, longest_ = 64, points_ = 0, point_[kPoints];
};

}  // namespace hc::model
#endif
