/* Guards against: an answer that was never tried. Every cell of matrix.def: function x result x {outside, in a task,
 * after a shutdown, with NULL}; matrix.py sees to it that the table is complete. */
#include <limits.h>

#include "matrix_probes_timers.h"

typedef struct cell {
    int alternative; /* another result that is as good; INT_MIN: none */
    bool tried;
} cell;

typedef struct row {
    const char *function, *result_name;
    int result;
    enum group_kind group;
    int (*probe)(hc_group *);
    cell cells[4];
} row;

static const row rows[] = {
#define YES \
    { INT_MIN, true }
#define OR(code) \
    { code, true }
#define NO(reason) \
    { 0, false }
#define WHY(name, text)
#define NOWHERE(code)
#define ROW(function, result, group, probe, outside, task, shut, null) \
    {#function, #result, result, group, probe, {outside, task, shut, null}},
#include "matrix.def"
#undef WHY
#undef NOWHERE
#undef ROW
};

static const char *const place_names[] = {"outside", "in a task", "after a shutdown", "with NULL"};

/* The cell's own call, in a child if the answer is to be HC_EFORKED. */
static const row *trying;

static void judge(int got) {
    const cell *c = &trying->cells[place];
    if (got == trying->result || got == c->alternative) return;
    fprintf(stderr, "%s, %s: got %s (%d), wanted %s\n", trying->function, place_names[place], hc_errname(got), got,
            trying->result_name);
    fflush(NULL);
    abort();
}

static hc_group *g;
static void call_it(void) { judge(trying->probe(place == with_null ? NULL : g)); }

static void try_here(void) {
    if (trying->result == HC_EFORKED)
        CHECK_EQ(check_fork(call_it, 20), 0);
    else
        call_it();
}

static void try_in_task(void *arg) {
    (void)arg;
    prepare_all(g, trying->group);
    try_here();
    release_all(trying->group);
}

static bool is_bounded(enum group_kind kind) {
    return kind == full || kind == pinned_full || kind == scope_full || kind == full_wait || kind == pinned_full_wait ||
           kind == scope_full_wait || kind == serial_full || kind == serial_full_wait;
}

static bool is_held(enum group_kind kind) {
    return kind == held || kind == pinned_held || kind == scope_held || kind == scope_busy || kind == queued ||
           kind == timer_pending || kind == serial_held || is_bounded(kind);
}

static void try_cell(void) {
    hc_group_options options = one_worker;
    enum group_kind kind = trying->group;
    if (kind == pinned || kind == pinned_held || kind == pinned_full || kind == pinned_full_wait)
        options.kind = HC_KIND_PINNED;
    if (is_bounded(kind)) options.capacity = 7;
    if (kind == full_wait || kind == pinned_full_wait || kind == scope_full_wait || kind == serial_full_wait) {
        options.full_policy = HC_FULL_WAIT;
        options.full_timeout = a_moment;
    }
    if (kind == two || kind == timer_running) options.max_workers = 2;
    bool hold_worker = place != in_task && is_held(kind);

    options = fixed(options);
    if (kind == empty || kind == scope_empty || kind == serial_empty) options.min_workers = HC_NONE32;
    if (kind == spared) options.spare_workers = 2;
    g = group_with(&options);
    hc_group_ref(g); /* so that it is still there after a probe that shuts it down */
    gate at = GATE;
    if (hold_worker) gate_hold(g, &at);
    if (place == in_task) {
        CHECK_OK(hc_submit(g, try_in_task, NULL));
        CHECK_OK(hc_group_drain(g, HC_NEVER));
    } else {
        prepare_all(g, kind);
        if (place == shut) CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_DRAIN));
        try_here();
        release_all(kind);
    }
    if (hold_worker) gate_open(&at);
    CHECK_OK(hc_group_destroy(g));
    hc_group_unref(g);
}

/* `fresh` ones come first, each in a process without a group; where a task or a shut group is asked for, it has one. */
static void try_all(bool want_fresh) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
        for (place = outside; place <= with_null; ++place) {
            trying = &rows[i];
            if (!trying->cells[place].tried || (trying->group == fresh) != want_fresh) continue;
            static char name[128]; /* for the alarm */
            snprintf(name, sizeof name, "%s, %s, %s", trying->function, trying->result_name, place_names[place]);
            check_case = name;
            bool without_group = trying->group == fresh && (place == outside || place == with_null);
            if (without_group)
                CHECK_EQ(check_fork(call_it, 20), 0);
            else if (want_fresh)
                CHECK_EQ(check_fork(try_cell, 20), 0);
            else
                try_cell();
        }
}

static void try_the_others(void) { try_all(false); }

int main(void) {
    check_deadline(90);
    try_all(true);
    CHECK_OK(hc_allocator_set(counting_alloc, counting_free, &memory));
    on_own_thread(try_the_others);
    CHECK(ran > 0);
    CHECK_EQ(counting_read(&memory, &memory.blocks), 0);
    printf("%zu rows\n", sizeof rows / sizeof rows[0]);
    return 0;
}
