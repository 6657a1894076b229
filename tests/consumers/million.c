/* The shortest useful program: a million tasks, then wait. What a user copies first must compile and work as it stands.
 */
#include <homecooking/homecooking.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int done;

static void work(void *arg) { atomic_fetch_add((atomic_int *)arg, 1); }

int main(void) {
    hc_group *g;
    if (hc_group_create(&g, NULL) < 0) return 1;
    for (int i = 0; i < 1000000; ++i)
        if (hc_submit(g, work, &done) < 0) return 2;
    if (hc_group_drain(g, HC_NEVER) < 0) return 3;
    if (hc_group_destroy(g) < 0) return 4;
    printf("%d\n", done);
    return done == 1000000 ? 0 : 5;
}
