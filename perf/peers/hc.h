// libhomecooking through its public C API: the default kind, and the two other ways to queue. max_workers is the only
// option that is set, but for HcFixed, whose workers are all there from the start and stay: no member of the lists in all.h.
#pragma once

#include <homecooking/homecooking.h>

#include "../harness/fail.h"
#include "pool.h"

namespace perf {

class HcGroup {
  public:
    static constexpr bool any_thread = true;
    explicit HcGroup(const hc_group_options &options) {
        if (int error = hc_group_create(&group_, &options); error < 0)
            fail(std::string("hc_group_create: ") + hc_strerror(error));
    }
    ~HcGroup() { hc_group_destroy(group_); }
    HcGroup(const HcGroup &) = delete;
    HcGroup &operator=(const HcGroup &) = delete;

    void submit(TaskFn fn, void *arg) {
        if (int error = hc_submit(group_, fn, arg); error < 0) [[unlikely]]
            fail(std::string("hc_submit: ") + hc_strerror(error));
    }
    hc_group *group() { return group_; }
    hc_group_stats_data stats() const {
        hc_group_stats_data data{};
        hc_group_stats(group_, &data, sizeof data);
        return data;
    }

  protected:
    static hc_group_options options(unsigned workers, uint32_t kind) {
        hc_group_options o = HC_GROUP_OPTIONS_INIT;
        o.max_workers = workers;
        o.kind = kind;
        return o;
    }

  private:
    hc_group *group_ = nullptr;
};

struct Hc : HcGroup {
    static constexpr const char *name = "hc";
    explicit Hc(unsigned workers, TaskFn = nullptr) : HcGroup(options(workers, HC_KIND_STEALING)) {}
};

struct HcFixed : HcGroup {
    static constexpr const char *name = "fixed";
    explicit HcFixed(unsigned workers, TaskFn = nullptr) : HcGroup(with_all(workers)) {}

  private:
    static hc_group_options with_all(unsigned workers) {
        hc_group_options o = options(workers, HC_KIND_STEALING);
        o.min_workers = workers;
        return o;
    }
};

struct HcShared : HcGroup {
    static constexpr const char *name = "shared";
    explicit HcShared(unsigned workers, TaskFn = nullptr) : HcGroup(options(workers, HC_KIND_SHARED)) {}
};

struct HcPinned : HcGroup {
    static constexpr const char *name = "pinned";
    explicit HcPinned(unsigned workers, TaskFn = nullptr) : HcGroup(options(workers, HC_KIND_PINNED)) {}
};

}  // namespace perf
