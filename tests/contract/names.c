/* Guards against: workers that cannot be told apart in a debugger, because the kernel cuts a name at 15 bytes. */
#include "check.h"

enum { workers = 12 };
static char seen[workers][32];

static void read_name(void *arg) {
    int32_t index = hc_worker_index();
    CHECK_EQ(pthread_getname_np(pthread_self(), seen[index], sizeof seen[index]), 0);
    hold_task(arg);
}

static void names_are(const char *name, const char *front) {
    char copy[256];
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.max_workers = workers;
    if (name != NULL) {
        snprintf(copy, sizeof copy, "%s", name);
        options.name = copy;
    }
    hc_group *g = fixed_with(&options);
    memset(copy, 'X', sizeof copy - 1); /* it was copied */
    static hold at;
    at = (hold){LATCH(workers), LATCH(1)};
    for (int i = 0; i < workers; ++i) CHECK_OK(hc_submit(g, read_name, &at));
    latch_wait(&at.inside); /* all inside: each has one of the tasks */
    for (int i = 0; i < workers; ++i) {
        char tail[16];
        snprintf(tail, sizeof tail, "-%d", i);
        size_t length = strlen(seen[i]);
        CHECK(length <= 15);
        CHECK(strncmp(seen[i], front, strlen(front)) == 0);
        CHECK(length >= strlen(tail));
        CHECK_STR(seen[i] + length - strlen(tail), tail);
        if (strlen(name != NULL ? name : "hc") + strlen(tail) <= 15) /* it fits: nothing is shortened */
            CHECK_EQ(length, strlen(name != NULL ? name : "hc") + strlen(tail));
    }
    hold_release(&at);
    CHECK_OK(hc_group_destroy(g));
}

static void the_default_name(void) { names_are(NULL, "hc-"); }
static void a_short_name(void) { names_are("io", "io-"); }
static void a_name_that_just_fits(void) { names_are("twelve_chars", "twelve_chars-"); }
static void a_name_that_fits_only_the_small_indices(void) { names_are("thirteen_char", "thirteen"); }
static void a_long_name_keeps_the_index(void) { names_are("a_very_long_name_that_no_kernel_would_take", "a_very"); }
static void an_empty_name(void) { names_are("", "-"); }

int main(void) {
    check_deadline(30);
    RUN(the_default_name);
    RUN(a_short_name);
    RUN(a_name_that_just_fits);
    RUN(a_name_that_fits_only_the_small_indices);
    RUN(a_long_name_keeps_the_index);
    RUN(an_empty_name);
    return 0;
}
