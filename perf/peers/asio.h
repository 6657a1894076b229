// Standalone Asio: post() to its thread_pool.
#pragma once

#include "pool.h"

#define ASIO_STANDALONE 1
#include <asio/post.hpp>
#include <asio/thread_pool.hpp>

namespace perf {

class Asio {
  public:
    static constexpr const char *name = "asio";
    static constexpr bool any_thread = true;
    explicit Asio(unsigned workers, TaskFn = nullptr) : pool_(workers) {}
    ~Asio() { pool_.join(); }
    void submit(TaskFn fn, void *arg) {
        asio::post(pool_, [fn, arg] { fn(arg); });
    }

  private:
    asio::thread_pool pool_;
};

}  // namespace perf
