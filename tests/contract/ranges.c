/* Guards against: an index that is visited twice or never, a piece below the grain, values that are combined out of order or
 * lost, and ranges that do not work where they are called. */
#include "held.h"

enum { most = 5000 };

typedef struct coverage {
    uint64_t begin, end, grain;
    atomic_uchar seen[most];
    atomic_int pieces, short_ones;
} coverage;

static void cover(void *arg, uint64_t begin, uint64_t end) {
    coverage *c = arg;
    CHECK(begin < end && begin >= c->begin && end <= c->end);
    if (end - begin < c->grain) atomic_fetch_add(&c->short_ones, 1);
    atomic_fetch_add(&c->pieces, 1);
    for (uint64_t i = begin; i < end; ++i) atomic_fetch_add(&c->seen[i - c->begin], 1);
}

static void cover_range(hc_group *g, uint64_t begin, uint64_t length, uint64_t grain) {
    coverage *c = calloc(1, sizeof *c);
    c->begin = begin, c->end = begin + length, c->grain = grain;
    CHECK_OK(hc_group_for(g, begin, begin + length, grain, cover, c));
    for (uint64_t i = 0; i < length; ++i) CHECK_EQ(c->seen[i], 1);
    CHECK(c->short_ones <= 1); /* the last, or the only one */
    if (length == 0) CHECK_EQ(c->pieces, 0);
    if (length > 0) CHECK(c->pieces >= 1);
    if (grain > 0 && length > 0) CHECK((uint64_t)c->pieces <= length / grain + (length % grain != 0));
    free(c);
}

static void cover_many(hc_group *g) {
    const uint64_t lengths[] = {0, 1, 2, 3, 7, 64, 1000, most};
    const uint64_t grains[] = {0, 1, 2, 3, 10, 999, most, UINT64_MAX};
    const uint64_t begins[] = {0, 1, 12345, UINT64_MAX - most};
    for (int i = 0; i < 8; ++i)
        for (int k = 0; k < 8; ++k) cover_range(g, begins[(i + k) % 4], lengths[i], grains[k]);
}

static void every_index_is_visited_once(void) { everywhere(cover_many); }

static void whole(void *arg, uint64_t begin, uint64_t end) {
    atomic_fetch_add((_Atomic uint64_t *)arg, end - begin);
}

static void the_longest_of_ranges(void) {
    hc_group *g = group_of(2);
    _Atomic uint64_t sum = 0;
    CHECK_OK(hc_group_for(g, 0, UINT64_MAX, UINT64_MAX / 1000, whole, (void *)&sum));
    CHECK(sum == UINT64_MAX);
    sum = 0;
    CHECK_OK(hc_group_for(g, 0, UINT64_MAX, 0, whole, (void *)&sum));
    CHECK(sum == UINT64_MAX);
    CHECK_OK(hc_group_destroy(g));
}

/* ---- Reduce ------------------------------------------------------------------------------------------------------- */

/* A stretch of indices: empty, or [from, to). Concatenation is associative, not commutative, and says when it is misused. */
typedef struct stretch {
    uint64_t from, to;
} stretch; /* more bytes may follow */

static void extend(void *arg, void *value, uint64_t begin, uint64_t end) {
    stretch *s = value;
    size_t size = *(size_t *)arg;
    CHECK(begin < end);
    CHECK(s->from == s->to || s->to == begin); /* a fresh copy, or what came just before */
    if (s->from == s->to) s->from = begin;
    s->to = end;
    for (size_t i = sizeof *s; i < size; ++i) CHECK_EQ(((unsigned char *)value)[i], (unsigned char)(i * 7));
}

static void concatenate(void *arg, void *left, const void *right) {
    stretch *l = left;
    const stretch *r = right;
    (void)arg;
    if (r->from == r->to) return;
    if (l->from == l->to) {
        l->from = r->from;
    } else {
        CHECK(l->to == r->from); /* in order */
    }
    l->to = r->to;
}

static void reduce_stretches(hc_group *g) {
    const size_t sizes[] = {16, 17, 100, 1023, 1024};
    const uint64_t lengths[] = {0, 1, 2, 3, 100, most}, grains[] = {0, 1, 7, 10000};
    for (int s = 0; s < 5; ++s)
        for (int l = 0; l < 6; ++l)
            for (int k = 0; k < 4; ++k) {
                union {
                    stretch s;
                    unsigned char bytes[1024 + 16];
                } value;
                memset(&value, 0, sizeof value);
                size_t size = sizes[s];
                for (size_t i = sizeof(stretch); i < size; ++i) value.bytes[i] = (unsigned char)(i * 7);
                for (size_t i = size; i < sizeof value; ++i) value.bytes[i] = 0xEE; /* beyond: not to be touched */
                CHECK_OK(hc_group_reduce(g, 5, 5 + lengths[l], grains[k], &value, size, extend, concatenate, &size));
                if (lengths[l] == 0) CHECK(value.s.from == value.s.to);
                if (lengths[l] != 0) CHECK(value.s.from == 5 && value.s.to == 5 + lengths[l]);
                for (size_t i = size; i < sizeof value; ++i) CHECK_EQ(value.bytes[i], 0xEE);
            }
}

static void values_are_combined_in_order(void) { everywhere(reduce_stretches); }

static void sum_body(void *arg, void *value, uint64_t begin, uint64_t end) {
    (void)arg;
    uint64_t sum;
    memcpy(&sum, value, sizeof sum);
    for (uint64_t i = begin; i < end; ++i) sum += i;
    memcpy(value, &sum, sizeof sum);
}

static void sum_combine(void *arg, void *left, const void *right) {
    (void)arg;
    uint64_t l, r;
    memcpy(&l, left, sizeof l);
    memcpy(&r, right, sizeof r);
    l += r;
    memcpy(left, &l, sizeof l);
}

static void xor_body(void *arg, void *value, uint64_t begin, uint64_t end) {
    (void)arg;
    for (uint64_t i = begin; i < end; ++i) *(unsigned char *)value ^= (unsigned char)(i * 31);
}

static void xor_combine(void *arg, void *left, const void *right) {
    (void)arg;
    *(unsigned char *)left ^= *(const unsigned char *)right;
}

/* The value may lie anywhere, and the pieces' values are as well aligned as malloc's. */
static void sum_and_xor(hc_group *g) {
    for (uint64_t n = 0; n <= 20000; n = n * 3 + 1) {
        uint64_t sum = 0;
        CHECK_OK(hc_group_reduce(g, 0, n, n % 2, &sum, sizeof sum, sum_body, sum_combine, NULL));
        CHECK(sum == (n == 0 ? 0 : n * (n - 1) / 2));
        unsigned char x[3] = {9, 0, 9}, wanted = 0;
        for (uint64_t i = 0; i < n; ++i) wanted ^= (unsigned char)(i * 31);
        CHECK_OK(hc_group_reduce(g, 0, n, 3, &x[1], 1, xor_body, xor_combine, NULL));
        CHECK_EQ(x[1], wanted);
        CHECK(x[0] == 9 && x[2] == 9);
    }
}

static void small_values(void) { everywhere(sum_and_xor); }

static void wrong_arguments_are_refused(void) {
    hc_group *g = group_of(1);
    uint64_t sum = 0;
    unsigned char big[2048] = {0};
    CHECK_RC(hc_group_for(NULL, 0, 1, 0, whole, &sum), HC_EINVAL);
    CHECK_RC(hc_group_for(g, 0, 1, 0, NULL, &sum), HC_EINVAL);
    CHECK_RC(hc_group_for(g, 2, 1, 0, whole, &sum), HC_EINVAL);
    CHECK_RC(hc_group_for(g, UINT64_MAX, 0, 0, whole, &sum), HC_EINVAL);
    CHECK_RC(hc_group_reduce(NULL, 0, 1, 0, &sum, 8, sum_body, sum_combine, NULL), HC_EINVAL);
    CHECK_RC(hc_group_reduce(g, 2, 1, 0, &sum, 8, sum_body, sum_combine, NULL), HC_EINVAL);
    CHECK_RC(hc_group_reduce(g, 0, 1, 0, NULL, 8, sum_body, sum_combine, NULL), HC_EINVAL);
    CHECK_RC(hc_group_reduce(g, 0, 1, 0, &sum, 8, NULL, sum_combine, NULL), HC_EINVAL);
    CHECK_RC(hc_group_reduce(g, 0, 1, 0, &sum, 8, sum_body, NULL, NULL), HC_EINVAL);
    CHECK_RC(hc_group_reduce(g, 0, 1, 0, &sum, 0, sum_body, sum_combine, NULL), HC_EINVAL);
    CHECK_RC(hc_group_reduce(g, 0, 1, 0, big, HC_REDUCE_MAX + 1, sum_body, sum_combine, NULL), HC_EINVAL);
    CHECK_RC(hc_group_reduce(g, 0, 1, 0, big, SIZE_MAX, sum_body, sum_combine, NULL), HC_EINVAL);
    CHECK_EQ(sum, 0);
    CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_DRAIN));
    CHECK_RC(hc_group_for(g, 0, 10, 0, whole, &sum), HC_ESHUTDOWN);
    CHECK_RC(hc_group_reduce(g, 0, 10, 0, &sum, 8, sum_body, sum_combine, NULL), HC_ESHUTDOWN);
    CHECK_EQ(sum, 0);
    CHECK_OK(hc_group_destroy(g));
}

/* ---- Nested, and in parallel ------------------------------------------------------------------------------------- */

typedef struct nest {
    hc_group *g, *inner;
    coverage c[8];
} nest;

static void cover_inside(void *arg, uint64_t begin, uint64_t end) {
    nest *n = arg;
    for (uint64_t i = begin; i < end; ++i) {
        CHECK_OK(hc_group_for(n->inner, 0, 300, i % 3, cover, &n->c[i]));
        uint64_t sum = 0;
        CHECK_OK(hc_group_reduce(n->g, 0, 100, 1, &sum, 8, sum_body, sum_combine, NULL));
        CHECK_EQ(sum, 4950);
    }
}

static void nest_in(hc_group *g, hc_group *inner) {
    nest *n = calloc(1, sizeof *n);
    n->g = g, n->inner = inner;
    for (int i = 0; i < 8; ++i) n->c[i].end = 300;
    CHECK_OK(hc_group_for(g, 0, 8, 1, cover_inside, n));
    for (int i = 0; i < 8; ++i)
        for (int k = 0; k < 300; ++k) CHECK_EQ(n->c[i].seen[k], 1);
    free(n);
}

static void nest_in_itself(hc_group *g) { nest_in(g, g); }

static void nest_in_another(hc_group *g) {
    hc_group *other = group_of(2);
    nest_in(g, other);
    CHECK_OK(hc_group_destroy(other));
}

static void ranges_nest(void) {
    everywhere(nest_in_itself);
    everywhere(nest_in_another);
}

static void *ranges_at_once(void *arg) {
    for (unsigned i = 0; i < 60 / CHECK_SLOWER; ++i) {
        cover_range(arg, i, 2000, i % 4);
        sum_and_xor(arg);
    }
    return NULL;
}

static void many_threads_use_one_group(void) {
    for (int w = 0; w < n_worker_counts; ++w) {
        hc_group *g = group_of(worker_counts[w]);
        pthread_t threads[4];
        for (int i = 0; i < 4; ++i) threads[i] = thread_start(ranges_at_once, g);
        for (int i = 0; i < 4; ++i) thread_join(threads[i]);
        CHECK_OK(hc_group_destroy(g));
    }
}

/* Workers do take part: a piece that waits for another thread's finds one. */
typedef struct meeting {
    pthread_t first;
    atomic_int here, others;
} meeting;

static void meet(void *arg, uint64_t begin, uint64_t end) {
    meeting *m = arg;
    (void)begin, (void)end;
    atomic_fetch_add(&m->here, 1);
    UNTIL(m->here >= 2);
    if (!pthread_equal(pthread_self(), m->first)) atomic_fetch_add(&m->others, 1);
}

static void idle_workers_take_part(void) {
    hc_group *g = group_of(2);
    for (int round = 0; round < 200; ++round) {
        meeting m = {pthread_self(), 0, 0};
        CHECK_OK(hc_group_for(g, 0, 2, 1, meet, &m));
        CHECK(m.others >= 1);
    }
    CHECK_OK(hc_group_destroy(g));
}

/* ---- Cancelled ---------------------------------------------------------------------------------------------------- */

typedef struct cancelling {
    hc_group *g;
    atomic_int pieces;
    int cancel_at, answer, reduced;
} cancelling;

static void cancel_amid(void *arg, uint64_t begin, uint64_t end) {
    cancelling *c = arg;
    CHECK_EQ(end - begin, 1);
    atomic_fetch_add(&c->pieces, 1);
    if (begin == (uint64_t)c->cancel_at && hc_task_current() != NULL) hc_task_cancel(hc_task_current());
}

static void ranges_in_a_cancelled_task(void *arg) {
    cancelling *c = arg;
    if (c->cancel_at < 0) CHECK_EQ(hc_task_cancel(hc_task_current()), HC_RUNNING);
    c->answer = hc_group_for(c->g, 0, 1000, 1, cancel_amid, c);
    uint64_t sum = 0;
    c->reduced = hc_group_reduce(c->g, 0, 1000, 1, &sum, 8, sum_body, sum_combine, NULL);
}

static void cancel_ranges(hc_group *g) {
    cancelling c = {g, 0, -1, 7, 7};
    CHECK_RC(end_of(held(g, ranges_in_a_cancelled_task, &c)), HC_OK);
    CHECK_EQ(c.pieces, 0);
    CHECK_RC(c.answer, HC_ECANCELED);
    CHECK_RC(c.reduced, HC_ECANCELED);
    c = (cancelling){g, 0, 2000, 7, 7};
    CHECK_RC(end_of(held(g, ranges_in_a_cancelled_task, &c)), HC_OK);
    CHECK_EQ(c.pieces, 1000);
    CHECK_OK(c.answer);
    CHECK_OK(c.reduced);
}

static void a_cancelled_task_leaves_pieces_out(void) { everywhere(cancel_ranges); }

/* One worker that is alone with it: what is left out is known. */
static void the_rest_is_left_out(void) {
    hc_group *g = group_of(1);
    cancelling c = {g, 0, 0, 7, 7};
    hc_task *t = held(g, ranges_in_a_cancelled_task, &c);
    CHECK_OK(hc_task_wait(t, HC_NEVER, HC_WAIT_NO_HELP, NULL));
    hc_task_unref(t);
    CHECK_RC(c.answer, HC_ECANCELED);
    CHECK_EQ(c.pieces, 1);
    CHECK_OK(hc_group_destroy(g));
}

typedef struct in_scope {
    cancelling c;
    hc_scope *s;
} in_scope;

static void range_in_scope(void *arg) {
    in_scope *i = arg;
    i->c.answer = hc_group_for(i->c.g, 0, 10, 1, cancel_amid, &i->c);
    CHECK_OK(hc_scope_cancel(i->s));
    i->c.reduced = hc_group_for(i->c.g, 0, 10, 1, cancel_amid, &i->c);
}

static void a_cancelled_scope_does_too(void) {
    hc_group *g = group_of(2);
    in_scope i = {{g, 0, 2000, 7, 7}, NULL};
    CHECK_OK(hc_scope_create(g, &i.s));
    CHECK_OK(hc_scope_submit(i.s, range_in_scope, &i, NULL));
    CHECK_OK(hc_scope_wait(i.s, HC_NEVER, 0, NULL));
    CHECK_OK(hc_scope_destroy(i.s));
    CHECK_OK(i.c.answer);
    CHECK_RC(i.c.reduced, HC_ECANCELED);
    CHECK_EQ(i.c.pieces, 10);
    CHECK_OK(hc_group_destroy(g));
}

/* In a task of a group that is shut down, ranges still work. */
typedef struct closing {
    hc_group *g;
    gate at;
    int ran;
} closing;

static void range_after_the_shutdown(void *arg) {
    closing *c = arg;
    gate_task(&c->at);
    cover_range(c->g, 0, 1000, 1);
    c->ran = 1;
}

static void a_task_may_use_ranges_after_a_shutdown(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        closing c = {group_of_kind(kind, 2), GATE, 0};
        CHECK_OK(hc_submit(c.g, range_after_the_shutdown, &c));
        latch_wait(&c.at.inside);
        CHECK_OK(hc_group_shutdown(c.g, HC_SHUTDOWN_DRAIN));
        gate_open(&c.at);
        CHECK_OK(hc_group_destroy(c.g));
        CHECK_EQ(c.ran, 1);
    }
}

int main(void) {
    check_deadline(60);
    RUN(every_index_is_visited_once);
    RUN(the_longest_of_ranges);
    RUN(values_are_combined_in_order);
    RUN(small_values);
    RUN(wrong_arguments_are_refused);
    RUN(ranges_nest);
    RUN(many_threads_use_one_group);
    RUN(idle_workers_take_part);
    RUN(a_cancelled_task_leaves_pieces_out);
    RUN(the_rest_is_left_out);
    RUN(a_cancelled_scope_does_too);
    RUN(a_task_may_use_ranges_after_a_shutdown);
    return 0;
}
