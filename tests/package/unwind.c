/* A host in C, in which C++ comes late, with a library: whatever unwinder lies before libgcc's then would serve it.
 * usage: unwind UNWINDER LIBRARY_THAT_THROWS ANOTHER */
#include <dlfcn.h>
#include <homecooking/homecooking.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static int throws(const char *path) {
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL),
         *symbol = handle == NULL ? NULL : dlsym(handle, "throws_inside");
    int (*f)(int);
    if (symbol == NULL) return 0;
    memcpy(&f, &symbol, sizeof f);
    return f(3) == 3;
}

int main(int argc, char **argv) {
    int able = (hc_features() & HC_FEATURE_STACKS) != 0;
    if (argc != 4 || hc_signal_set(0, SIGURG) != (able ? 0 : HC_ENOTSUP)) return 1;
    if (!throws(argv[2]) || !throws(argv[3])) return 2;
    puts(able ? "stacks" : "no stacks");
    return 0;
}
