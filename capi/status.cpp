#include "capi/border.h"

// The core cannot include the public header; it names the one code that it hands out by itself.
static_assert(HC_ESHUTDOWN == -1010);

extern "C" {

const char *hc_errname(int code) {
    if (code >= 0) return "HC_OK";
    switch (code) {
#define HC_CASE(name, value, text) \
    case value: return #name;
        HC_ERROR_MAP(HC_CASE)
#undef HC_CASE
        default: return "HC_E?";
    }
}

const char *hc_strerror(int code) {
    if (code >= 0) return "success";
    switch (code) {
#define HC_CASE(name, value, text) \
    case value: return text;
        HC_ERROR_MAP(HC_CASE)
#undef HC_CASE
        default: return "unknown error";
    }
}

}  // extern "C"
