/* Guards against: a dump that lies, hangs, stops the group, or cannot be read by a program. */
#include <signal.h>

#include "check.h"

enum { room = 1 << 20 };
typedef struct paper {
    char text[room];
    size_t n, pieces, most_pieces;
} paper;
static paper sheet;

static int keep(void *user, const char *text, size_t n) {
    paper *p = user;
    CHECK(n > 0);
    CHECK(p->n + n < room);
    memcpy(p->text + p->n, text, n);
    p->n += n;
    p->text[p->n] = 0;
    return p->most_pieces != 0 && ++p->pieces == p->most_pieces;
}

static const char *dumped(hc_group *g, uint32_t format) {
    memset(&sheet, 0, sizeof sheet);
    CHECK_OK(hc_group_dump(g, format, keep, &sheet));
    CHECK(sheet.n > 0);
    CHECK_EQ(sheet.text[sheet.n - 1], '\n');
    return sheet.text;
}

#define SAYS(g, words) CHECK(strstr(dumped(g, HC_DUMP_TEXT), words) != NULL)

/* ---- A reader of JSON, as strict as is needed ------------------------------------------------------------------ */

static const char *value_end(const char *p);
static const char *string_end(const char *p) {
    CHECK_EQ(*p, '"');
    for (++p; *p != '"'; ++p) {
        CHECK((unsigned char)*p >= 0x20);
        if (*p == '\\') {
            ++p;
            CHECK(*p == '"' || *p == '\\' || *p == 'u');
            if (*p == 'u')
                for (int i = 0; i < 4; ++i) CHECK(strchr("0123456789abcdef", *++p) != NULL);
        }
    }
    return p + 1;
}
static const char *list_end(const char *p, char close, bool keys) {
    if (*++p == close) return p + 1;
    for (;; ++p) {
        if (keys) {
            p = string_end(p);
            CHECK_EQ(*p, ':');
            ++p;
        }
        p = value_end(p);
        if (*p == close) return p + 1;
        CHECK_EQ(*p, ',');
    }
}
static const char *value_end(const char *p) {
    if (*p == '{') return list_end(p, '}', true);
    if (*p == '[') return list_end(p, ']', false);
    if (*p == '"') return string_end(p);
    const char *const words[] = {"true", "false", "null"};
    for (int i = 0; i < 3; ++i)
        if (strncmp(p, words[i], strlen(words[i])) == 0) return p + strlen(words[i]);
    CHECK(*p >= '0' && *p <= '9');
    while (*p >= '0' && *p <= '9') ++p;
    return p;
}
static void is_json(hc_group *g) {
    const char *text = dumped(g, HC_DUMP_JSON);
    CHECK_EQ(*text, '{');
    const char *end = value_end(text);
    CHECK_EQ(*end, '\n');
    CHECK_EQ(end[1], 0);
}

/* ---- Tasks ----------------------------------------------------------------------------------------------------- */

static void nothing(void *arg) { (void)arg; }

static bool stacks(void) { return (hc_features() & HC_FEATURE_STACKS) != 0; }

static atomic_int inside;
__attribute__((noinline)) void stands_here_for_all_to_see(gate *at) {
    inside += 1;
    latch_wait(&at->go);
    __asm__ volatile("" ::: "memory"); /* no tail call */
}
static void stands(void *at) { stands_here_for_all_to_see(at); }

static void an_idle_group_is_idle(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group_options options = HC_GROUP_OPTIONS_INIT;
        options.kind = kind;
        options.max_workers = 2;
        options.name = "quiet";
        hc_group *g = fixed_with(&options);
        UNTIL(stats_of(g).workers_parked == 2);
        SAYS(g, "group \"quiet\": idle\n");
        SAYS(g, "worker 1 (thread ");
        is_json(g);
        CHECK_OK(hc_group_destroy(g));
    }
}

static void a_group_whose_workers_are_blocked_is_stuck(void) {
    hc_group *g = group_of(2);
    gate at = GATE;
    for (int i = 0; i < 5; ++i) CHECK_OK(hc_submit(g, stands, &at));
    UNTIL(inside == 2);
    UNTIL(strstr(dumped(g, HC_DUMP_TEXT), "stuck: all workers are blocked") != NULL); /* once they sleep */
    SAYS(g, "3 queued");
    CHECK(strstr(dumped(g, HC_DUMP_JSON), "\"asleep\":true") != NULL);
    is_json(g);
    if (stacks()) {
        UNTIL(strstr(dumped(g, HC_DUMP_TEXT), "stands_here_for_all_to_see") != NULL || strstr(sheet.text, "#4") != NULL);
    } else {
        SAYS(g, "no stack: no libunwind");
    }
    gate_open(&at);
    CHECK_OK(hc_group_destroy(g));
}

/* What a label holds is the user's: it must not break the format. */
static void a_label_is_shown_and_quoted(void) {
    hc_group *g = group_of(1);
    gate at = GATE;
    hc_task_options options = HC_TASK_OPTIONS_INIT;
    options.fn = gate_task;
    options.arg = &at;
    options.label = "say \"hello\\\"\n\x01";
    hc_task *t;
    CHECK_OK(hc_task_submit(g, &options, &t));
    latch_wait(&at.inside);
    is_json(g);
    CHECK(strstr(sheet.text, "\"label\":\"say \\\"hello\\\\\\\"\\u000a\\u0001\"") != NULL);
    gate_open(&at);
    CHECK_OK(hc_task_wait(t, HC_NEVER, 0, NULL));
    hc_task_unref(t);
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    CHECK(strstr(dumped(g, HC_DUMP_JSON), "hello") == NULL); /* it is over */
    CHECK_OK(hc_group_destroy(g));
}

static void pause_and_shutdown_are_said(void) {
    hc_group *g = group_of(1);
    CHECK_OK(hc_group_pause(g));
    CHECK_OK(hc_submit(g, nothing, NULL));
    SAYS(g, "paused: tasks wait for hc_group_resume()");
    CHECK_OK(hc_group_resume(g));
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_DRAIN));
    CHECK_OK(hc_group_await(g, HC_NEVER));
    SAYS(g, "it has ended");
    is_json(g);
    CHECK_OK(hc_group_destroy(g));
}

static void dumps_its_own_group(void *g) {
    SAYS(g, "running");
    if (stacks()) SAYS(g, "#0 ");
}
static void a_task_may_dump_its_own_group(void) {
    hc_group *g = group_of(2);
    CHECK_OK(hc_submit(g, dumps_its_own_group, g));
    CHECK_OK(hc_group_destroy(g));
}

static int hands_back(void *user, const char *text, size_t n) {
    CHECK_OK(hc_submit(user, nothing, NULL)); /* no lock is held */
    return text == NULL || n == 0;
}
static void the_writer_may_stop_and_may_use_the_group(void) {
    hc_group *g = group_of(64);
    memset(&sheet, 0, sizeof sheet);
    sheet.most_pieces = 1;
    CHECK_RC(hc_group_dump(g, HC_DUMP_TEXT, keep, &sheet), HC_ECANCELED);
    CHECK_OK(hc_group_dump(g, HC_DUMP_TEXT, hands_back, g));
    CHECK_RC(hc_group_dump(g, 2, keep, &sheet), HC_EINVAL);
    CHECK_RC(hc_group_dump(g, HC_DUMP_TEXT, NULL, NULL), HC_EINVAL);
    CHECK_RC(hc_group_dump(NULL, HC_DUMP_TEXT, keep, &sheet), HC_EINVAL);
    CHECK_OK(hc_group_destroy(g));
}

/* Workers come, go and work all the time. */
static atomic_int over;
static void *submits(void *g) {
    while (!over) {
        hc_task_options options = HC_TASK_OPTIONS_INIT;
        options.fn = nothing;
        options.label = "of many";
        CHECK_OK(hc_task_submit(g, &options, NULL));
        CHECK_OK(hc_submit(g, nothing, NULL));
    }
    return NULL;
}
static void a_busy_group_is_dumped(void) {
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.max_workers = 8;
    options.keep_alive = 1000;
    options.capacity = 1000;
    options.full_policy = HC_FULL_WAIT;
    hc_group *g = group_with(&options);
    pthread_t submitter = thread_start(submits, g);
    for (int i = 0; i < 100; ++i) is_json(g);
    over = 1;
    thread_join(submitter);
    CHECK_OK(hc_group_destroy(g));
}

int main(void) {
    check_deadline(60);
    if (stacks()) CHECK_OK(hc_signal_set(0, SIGURG));
    RUN(an_idle_group_is_idle);
    RUN(a_group_whose_workers_are_blocked_is_stuck);
    RUN(a_label_is_shown_and_quoted);
    RUN(pause_and_shutdown_are_said);
    RUN(a_task_may_dump_its_own_group);
    RUN(the_writer_may_stop_and_may_use_the_group);
    RUN(a_busy_group_is_dumped);
    return 0;
}
