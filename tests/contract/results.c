/* Guards against: an error code that is renumbered, nameless, or overlaps errno; a library that is not its header. */
#include <time.h>

#include "check.h"

static void every_code_keeps_its_number_name_and_text(void) {
    /* Written out again on purpose: a change of the header must be a change here too. */
    static const struct {
        int code, value;
        const char *name, *text;
    } first_release[] = {
        {HC_EINVAL, -1001, "HC_EINVAL", "invalid argument"},
        {HC_ENOMEM, -1002, "HC_ENOMEM", "out of memory"},
        {HC_ETHREAD, -1003, "HC_ETHREAD", "could not start a thread"},
        {HC_EFULL, -1004, "HC_EFULL", "queue is full"},
        {HC_ETIMEDOUT, -1005, "HC_ETIMEDOUT", "the wait timed out"},
        {HC_ECANCELED, -1006, "HC_ECANCELED", "task was cancelled"},
        {HC_EEXPIRED, -1007, "HC_EEXPIRED", "task expired in the queue"},
        {HC_ELIMIT, -1008, "HC_ELIMIT", "task ran past its limit"},
        {HC_EDROPPED, -1009, "HC_EDROPPED", "task was dropped by the overload policy"},
        {HC_ESHUTDOWN, -1010, "HC_ESHUTDOWN", "group is shut down"},
        {HC_EFORKED, -1011, "HC_EFORKED", "group belongs to the parent process"},
        {HC_EDEADLK, -1012, "HC_EDEADLK", "the caller would wait for itself"},
        {HC_EBUSY, -1013, "HC_EBUSY", "in use"},
        {HC_ENOTSUP, -1014, "HC_ENOTSUP", "not in this build, or not for this kind of group"},
        {HC_EUNWOUND, -1015, "HC_EUNWOUND", "task was unwound (pthread_exit, cancellation)"},
        {HC_EFAILED, -1016, "HC_EFAILED", "task failed"},
        {HC_EINTR, -1017, "HC_EINTR", "interrupted by a signal"},
        {HC_ECLOSED, -1018, "HC_ECLOSED", "completion queue is closed"},
    };
    for (size_t i = 0; i < sizeof first_release / sizeof first_release[0]; ++i) {
        CHECK_EQ(first_release[i].code, first_release[i].value);
        CHECK_STR(hc_errname(first_release[i].value), first_release[i].name);
        CHECK_STR(hc_strerror(first_release[i].value), first_release[i].text);
    }
    int listed = 0;
#define COUNT(name, value, text) ++listed;
    HC_ERROR_MAP(COUNT)
#undef COUNT
    CHECK_EQ(listed, sizeof first_release / sizeof first_release[0]);
}

static void every_other_number_has_an_answer_too(void) {
    CHECK_STR(hc_errname(0), "HC_OK");
    CHECK_STR(hc_errname(1), "HC_OK");
    CHECK_STR(hc_errname(INT32_MAX), "HC_OK");
    static const int unknown[] = {-1, -11, -999, -1000, -1019, -4096, INT32_MIN};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; ++i) {
        CHECK_STR(hc_errname(unknown[i]), "HC_E?");
        CHECK(hc_strerror(unknown[i]) != NULL && hc_strerror(unknown[i])[0] != '\0');
    }
    CHECK(hc_strerror(0) != NULL && hc_strerror(7) != NULL);
    for (int code = -1100; code < 10; ++code) { /* static storage: the same answer each time */
        CHECK(hc_errname(code) == hc_errname(code));
        CHECK(hc_strerror(code) == hc_strerror(code));
    }
}

static void the_loaded_library_is_the_one_of_the_header(void) {
    CHECK_EQ(hc_version(), HC_VERSION_HEX);
    char text[32];
    snprintf(text, sizeof text, "%u.%u.%u", hc_version() >> 16, hc_version() >> 8 & 255u, hc_version() & 255u);
    CHECK_STR(hc_version_string(), text);
    CHECK(hc_features() == hc_features());
#ifdef BARRIER_FENCE
    CHECK((hc_features() & HC_FEATURE_MEMBARRIER) == 0);
#endif
}

static void the_clock_is_the_monotonic_one(void) {
    for (int i = 0; i < 1000; ++i) {
        struct timespec before, after;
        CHECK(clock_gettime(CLOCK_MONOTONIC, &before) == 0);
        uint64_t now = hc_now();
        CHECK(clock_gettime(CLOCK_MONOTONIC, &after) == 0);
        CHECK((uint64_t)before.tv_sec * 1000000000u + (uint64_t)before.tv_nsec <= now);
        CHECK(now <= (uint64_t)after.tv_sec * 1000000000u + (uint64_t)after.tv_nsec);
    }
}

static volatile sig_atomic_t answered;

static void handler(int signal) {
    (void)signal;
    if (strcmp(hc_errname(HC_EFULL), "HC_EFULL") == 0 && hc_strerror(HC_EFULL)[0] && hc_version() == HC_VERSION_HEX &&
        hc_version_string()[0] && hc_now() > 0)
        answered = 1;
}

static void the_marked_functions_work_in_a_signal_handler(void) {
    signal(SIGUSR1, handler);
    CHECK(raise(SIGUSR1) == 0);
    CHECK_EQ(answered, 1);
}

int main(void) {
    check_deadline(20);
    RUN(every_code_keeps_its_number_name_and_text);
    RUN(every_other_number_has_an_answer_too);
    RUN(the_loaded_library_is_the_one_of_the_header);
    RUN(the_clock_is_the_monotonic_one);
    RUN(the_marked_functions_work_in_a_signal_handler);
    return 0;
}
