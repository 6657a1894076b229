/* counting.h - allocator hooks that know every block: its size, its alignment, and what is still out. They can fail the
 * n-th request from now on, and they check what is given back. One mutex: they are not fast. */
#ifndef COUNTING_H
#define COUNTING_H

#include "check.h"

typedef struct counting {
    pthread_mutex_t mutex;
    int64_t blocks, bytes, most_bytes; /* out now */
    int64_t requests;                  /* ever */
    int64_t fail_at;                   /* how many more succeed; < 0: all */
    int64_t failed;
} counting;

#define COUNTING \
    { PTHREAD_MUTEX_INITIALIZER, 0, 0, 0, 0, -1, 0 }

/* In front of every block, as far as its alignment asks. */
typedef struct counting_head {
    size_t size, align;
    uint64_t magic;
} counting_head;

#define COUNTING_ALIVE 0x616c697665616c69u

static inline void *counting_alloc(size_t size, size_t align, void *user) {
    counting *c = user;
    CHECK(size > 0);
    CHECK(align > 0 && (align & (align - 1)) == 0);
    pthread_mutex_lock(&c->mutex);
    ++c->requests;
    bool fail = c->fail_at == 0;
    if (c->fail_at > 0) --c->fail_at;
    if (fail)
        ++c->failed;
    else {
        ++c->blocks;
        c->bytes += (int64_t)size;
        if (c->bytes > c->most_bytes) c->most_bytes = c->bytes;
    }
    pthread_mutex_unlock(&c->mutex);
    if (fail) return NULL;
    size_t room = align < sizeof(counting_head) ? (sizeof(counting_head) + align - 1) / align * align : align;
    char *base = NULL;
    CHECK(posix_memalign((void **)&base, align < sizeof(void *) ? sizeof(void *) : align, room + size) == 0);
    memset(base, 0xA5, room + size); /* nobody may count on zeros */
    counting_head head = {size, align, COUNTING_ALIVE};
    memcpy(base + room - sizeof head, &head, sizeof head);
    return base + room;
}

static inline void counting_free(void *p, size_t size, size_t align, void *user) {
    counting *c = user;
    if (p == NULL) return;
    counting_head head;
    memcpy(&head, (char *)p - sizeof head, sizeof head);
    CHECK(head.magic == COUNTING_ALIVE); /* ours, and not given back twice */
    CHECK_EQ(size, head.size);
    CHECK_EQ(align, head.align);
    size_t room = align < sizeof(counting_head) ? (sizeof(counting_head) + align - 1) / align * align : align;
    pthread_mutex_lock(&c->mutex);
    --c->blocks;
    c->bytes -= (int64_t)size;
    pthread_mutex_unlock(&c->mutex);
    memset((char *)p - room, 0x5A, room + size); /* whoever still reads it reads nonsense */
    free((char *)p - room);
}

static inline int64_t counting_read(counting *c, const int64_t *field) {
    pthread_mutex_lock(&c->mutex);
    int64_t value = *field;
    pthread_mutex_unlock(&c->mutex);
    return value;
}

/* The next n requests succeed, all later ones fail; n < 0: none fails. */
static inline void counting_fail_after(counting *c, int64_t n) {
    pthread_mutex_lock(&c->mutex);
    c->fail_at = n;
    c->failed = 0;
    pthread_mutex_unlock(&c->mutex);
}

#endif
