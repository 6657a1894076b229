// Standalone Asio: a steady_timer for each call, kept alive by its own handler, on one io_context that `workers`
// threads run.
#pragma once

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "timers.h"

#define ASIO_STANDALONE 1
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

namespace perf {

class AsioTimers {
  public:
    static constexpr const char *name = "asio";
    static constexpr bool one_loop = false;
    explicit AsioTimers(unsigned workers) : context_(static_cast<int>(workers)), work_(context_.get_executor()) {
        for (unsigned i = 0; i < workers; ++i) threads_.emplace_back([this] { context_.run(); });
    }
    ~AsioTimers() {
        context_.stop();
        threads_.clear();  // joins
    }
    void schedule(TaskFn fn, void *arg, uint64_t delay) {
        auto timer = std::make_shared<asio::steady_timer>(context_, std::chrono::nanoseconds(delay));
        timer->async_wait([timer, fn, arg](const asio::error_code &) { fn(arg); });
    }

  private:
    asio::io_context context_;
    asio::executor_work_guard<asio::io_context::executor_type> work_;
    std::vector<std::jthread> threads_;
};

}  // namespace perf
