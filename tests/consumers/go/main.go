// Go through cgo: hand-written declarations, closures behind handles. Each closure runs once, or comes back once through
// on_unrun or its drop; either way its handle is deleted exactly once (a second time would panic).
package main

/*
#include <stddef.h>
#include <stdint.h>

// As in homecooking.h, but that an argument is a number here: a handle is one.
typedef struct hc_group hc_group;
typedef void (*hc_fn)(uintptr_t arg);
typedef void (*hc_drop_fn)(uintptr_t arg, int32_t why);
typedef struct { hc_fn fn; uintptr_t arg; } hc_call;
typedef struct {
    uint32_t size, flags;
    const char *name;
    uint32_t min_workers, max_workers, spare_workers, kind;
    uint64_t keep_alive, stuck_after, capacity;
    uint32_t full_policy, spin;
    uint64_t full_timeout, stack_size;
    const uint32_t *cpus;
    uint32_t cpu_count, reserved;
    void *user, *on_thread_start, *on_thread_stop;
    void (*on_unrun)(void *user, hc_fn fn, uintptr_t arg, int32_t why);
} hc_group_options;
typedef struct { uint32_t size, flags; hc_fn fn; uintptr_t arg; hc_drop_fn drop; const char *label; } hc_task_options;

int hc_group_create(hc_group **out, const hc_group_options *options);
int hc_group_drain(hc_group *g, uint64_t timeout);
int hc_group_shutdown(hc_group *g, uint32_t how);
int hc_group_destroy(hc_group *g);
int hc_submit(hc_group *g, hc_fn fn, uintptr_t arg);
int hc_submit_batch(hc_group *g, const hc_call *calls, size_t n, size_t *accepted);
int hc_task_submit(hc_group *g, const hc_task_options *options, void **out);

void goRun(uintptr_t arg);
void goDrop(uintptr_t arg, int32_t why);
void goUnrun(void *user, hc_fn fn, uintptr_t arg, int32_t why);
*/
import "C"

import (
	"fmt"
	"os"
	"runtime/cgo"
	"sync/atomic"
	"unsafe"
)

const (
	never       = ^C.uint64_t(0)
	shutdownNow = 1
	eShutdown   = -1010
	n           = 1000
)

var ran, handedBack, deleted int64

//export goRun
func goRun(arg C.uintptr_t) {
	h := cgo.Handle(arg)
	h.Value().(func())()
	h.Delete()
	atomic.AddInt64(&deleted, 1)
}

//export goDrop
func goDrop(arg C.uintptr_t, why C.int32_t) {
	must(int(why) == eShutdown, "the reason")
	cgo.Handle(arg).Delete()
	atomic.AddInt64(&deleted, 1)
	atomic.AddInt64(&handedBack, 1)
}

//export goUnrun
func goUnrun(user unsafe.Pointer, fn C.hc_fn, arg C.uintptr_t, why C.int32_t) { goDrop(arg, why) }

func must(fine bool, what string) {
	if !fine {
		fmt.Fprintln(os.Stderr, "failed:", what)
		os.Exit(1)
	}
}

func handle(f func()) C.uintptr_t { return C.uintptr_t(cgo.NewHandle(f)) }

func counted() C.uintptr_t { return handle(func() { atomic.AddInt64(&ran, 1) }) }

func submitBatch(g *C.hc_group) {
	calls := make([]C.hc_call, n)
	for i := range calls {
		calls[i] = C.hc_call{fn: C.hc_fn(C.goRun), arg: counted()}
	}
	var accepted C.size_t
	must(C.hc_submit_batch(g, &calls[0], n, &accepted) == 0 && accepted == n, "batch")
}

func main() {
	options := C.hc_group_options{max_workers: 1}
	options.size = C.uint32_t(unsafe.Sizeof(options))
	options.on_unrun = (*[0]byte)(C.goUnrun)
	var g *C.hc_group
	must(C.hc_group_create(&g, &options) == 0, "create")

	submitBatch(g)
	must(C.hc_group_drain(g, never) == 0, "drain")
	must(atomic.LoadInt64(&ran) == n && atomic.LoadInt64(&deleted) == n, "each ran once")

	// The worker is held; what is queued behind comes back.
	inside, leave := make(chan bool), make(chan bool)
	must(C.hc_submit(g, C.hc_fn(C.goRun), handle(func() { inside <- true; <-leave })) == 0, "holder")
	<-inside
	submitBatch(g)
	for i := 0; i < n; i++ {
		task := C.hc_task_options{fn: C.hc_fn(C.goRun), arg: counted(), drop: C.hc_drop_fn(C.goDrop)}
		task.size = C.uint32_t(unsafe.Sizeof(task))
		must(C.hc_task_submit(g, &task, nil) == 0, "task")
	}
	must(C.hc_group_shutdown(g, shutdownNow) == 0, "shutdown")
	leave <- true
	must(C.hc_group_destroy(g) == 0, "destroy")
	must(atomic.LoadInt64(&ran) == n, "nothing else ran")
	must(atomic.LoadInt64(&handedBack) == 2*n, "each was handed back once")
	must(atomic.LoadInt64(&deleted) == 3*n+1, "each is gone")
}
