#include "capi/border.h"

using namespace hc;
using namespace hc::capi;

namespace {

Serial *of(hc_serial *s) { return reinterpret_cast<Serial *>(s); }

}  // namespace

extern "C" {

int hc_serial_create(hc_group *g, hc_serial **out) {
    if (out == nullptr) return HC_EINVAL;
    *out = nullptr;
    if (g == nullptr) return HC_EINVAL;
    Serial *s = nullptr;
    const int answer = code(serial_make(capi::of(g), &s));
    *out = reinterpret_cast<hc_serial *>(s);
    return answer;
}

int hc_serial_submit(hc_serial *s, hc_fn fn, void *arg, hc_drop_fn drop) {
    if (s == nullptr || fn == nullptr) return HC_EINVAL;
    Group *g = of(s)->group;
    TaskOptions o;
    o.call = {fn, arg};
    o.drop = drop;
    o.order.serial = of(s);
    return code(drop == nullptr && !g->expires() ? submit_in_order(g, o.order, o.call) : submit_ticket(g, o));
}

void hc_serial_ref(hc_serial *s) {
    if (s != nullptr) of(s)->ref();
}

void hc_serial_unref(hc_serial *s) {
    if (s != nullptr && !of(s)->group->foreign()) of(s)->unref();
}

}  // extern "C"
