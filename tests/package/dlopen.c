/* Guards against: a library that cannot be loaded at run time (thread-local storage that no longer fits), and code that
 * is unmapped while a thread still has its destructor to run. This program is not linked to the library. usage: dlopen
 * LIBRARY */
#include <dlfcn.h>
#include <homecooking/homecooking.h> /* for the types only */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition)                                                              \
    do {                                                                              \
        if (condition) break;                                                         \
        fprintf(stderr, "%s:%d: CHECK failed: %s\n", __FILE__, __LINE__, #condition); \
        abort();                                                                      \
    } while (0)

static struct {
    int (*create)(hc_group **, const hc_group_options *);
    int (*submit)(hc_group *, hc_fn, void *);
    int (*drain)(hc_group *, uint64_t);
    int (*destroy)(hc_group *);
} hc;

static void *load(const char *library) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) fprintf(stderr, "%s\n", dlerror());
    CHECK(handle != NULL);
    void *symbol;
#define GET(field, name)                           \
    CHECK((symbol = dlsym(handle, name)) != NULL); \
    memcpy(&hc.field, &symbol, sizeof symbol)
    GET(create, "hc_group_create");
    GET(submit, "hc_submit");
    GET(drain, "hc_group_drain");
    GET(destroy, "hc_group_destroy");
    return handle;
}

static void count(void *arg) { atomic_fetch_add((atomic_int *)arg, 1); }

static hc_group *g;
static atomic_int ran;
static pthread_barrier_t submitted, closed;

/* Knows the library, and ends after the program has let go of it. */
static void *outlives_the_library(void *arg) {
    (void)arg;
    for (int i = 0; i < 1000; ++i) CHECK(hc.submit(g, count, &ran) == 0);
    pthread_barrier_wait(&submitted);
    pthread_barrier_wait(&closed);
    return NULL;
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    alarm(60);
    for (int round = 0; round < 3; ++round) {
        void *handle = load(argv[1]);
        CHECK(hc.create(&g, NULL) == 0);
        ran = 0;
        pthread_t thread;
        pthread_barrier_init(&submitted, NULL, 2);
        pthread_barrier_init(&closed, NULL, 2);
        CHECK(pthread_create(&thread, NULL, outlives_the_library, NULL) == 0);
        pthread_barrier_wait(&submitted);
        CHECK(hc.drain(g, HC_NEVER) == 0);
        CHECK(ran == 1000);
        if (round != 1) CHECK(hc.destroy(g) == 0); /* once, with live workers */
        CHECK(dlclose(handle) == 0);
        pthread_barrier_wait(&closed);
        CHECK(pthread_join(thread, NULL) == 0);
        pthread_barrier_destroy(&submitted);
        pthread_barrier_destroy(&closed);
    }
    return 0;
}
