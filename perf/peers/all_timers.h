// The timers that this build has: ours always, a peer when its library was found.
#pragma once

#include "hc_timers.h"
#ifdef PERF_HAVE_ASIO
#include "asio_timers.h"
#endif
#ifdef PERF_HAVE_GLIB
#include "glib_timers.h"
#endif
#ifdef PERF_HAVE_UV
#include "uv_timers.h"
#endif

#include <string>
#include <type_traits>

namespace perf {

// f(std::type_identity<T>{}) for each peer, not for our own.
template <class F>
void each_timers_peer([[maybe_unused]] F &&f) {
#ifdef PERF_HAVE_ASIO
    f(std::type_identity<AsioTimers>{});
#endif
#ifdef PERF_HAVE_GLIB
    f(std::type_identity<GlibTimers>{});
#endif
#ifdef PERF_HAVE_UV
    f(std::type_identity<UvTimers>{});
#endif
}

template <class F>
void each_timers(F &&f) {
    f(std::type_identity<HcTimers>{});
    each_timers_peer(f);
}

}  // namespace perf
