// A model sends no signals: in place of src/sync/signal.h.
#pragma once
namespace hc {

inline void open_signals() {}

}  // namespace hc
