// The pools that this build has: ours always, a peer when its library was found.
#pragma once

#include "bare.h"
#include "hc.h"
#include "pool.h"
#ifdef PERF_HAVE_TBB
#include "tbb.h"
#endif
#ifdef PERF_HAVE_ASIO
#include "asio.h"
#endif
#ifdef PERF_HAVE_GLIB
#include "glib.h"
#endif
#ifdef PERF_HAVE_UV
#include "uv.h"
#endif

#include <string>
#include <type_traits>

namespace perf {

// f(std::type_identity<P>{}) for each peer, not for our own.
template <class F>
void each_peer([[maybe_unused]] F &&f) {
#ifdef PERF_HAVE_TBB
    f(std::type_identity<Tbb>{});
#endif
#ifdef PERF_HAVE_ASIO
    f(std::type_identity<Asio>{});
#endif
#ifdef PERF_HAVE_GLIB
    f(std::type_identity<Glib>{});
#endif
#ifdef PERF_HAVE_UV
    f(std::type_identity<Uv>{});
#endif
}

// f(std::type_identity<P>{}) for the three kinds of our own.
template <class F>
void each_kind(F &&f) {
    f(std::type_identity<Hc>{});
    f(std::type_identity<HcShared>{});
    f(std::type_identity<HcPinned>{});
}

template <class F>
void each_pool(F &&f) {
    each_kind(f);
    each_peer(f);
}

// f for the pool of that name; false when there is none.
template <class F>
bool with_pool(const std::string &name, F &&f) {
    bool found = false;
    each_pool([&](auto type) {
        if (name == decltype(type)::type::name) {
            found = true;
            f(type);
        }
    });
    return found;
}

}  // namespace perf
