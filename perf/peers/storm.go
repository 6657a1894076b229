// W1 in Go: a pool of goroutines that read calls from one channel. Each line on stdin, "SUBMITTERS TASKS WORKERS", is
// one round; the answer is the figures of storm.h in their order: wall, enqueue, complete, enqueued (ms), CPU s, and
// the peak of memory in bytes. A channel is bounded; its buffer here holds 1 024 calls.
package main

import (
	"bufio"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const cells = 1024

type call struct {
	fn  func(*cell)
	arg *cell
}

type cell struct{ owner *submitter }

type submitter struct {
	_      [128]byte
	count  int64
	target int64
	ended  time.Time
	all    *sync.WaitGroup
	_      [128]byte

	cell             [cells]cell
	began, submitted time.Time
}

func add(c *cell) {
	s := c.owner
	if atomic.AddInt64(&s.count, 1) == s.target {
		s.ended = time.Now()
		s.all.Done()
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / 1e6 }

func usage() (cpu float64, peak int64) {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Nano()+u.Stime.Nano()) * 1e-9, u.Maxrss * 1024
}

func round(queue chan call, submitters int, tasks int64) {
	var ready, all, finished sync.WaitGroup
	start := make(chan struct{})
	list := make([]submitter, submitters)
	ready.Add(submitters)
	all.Add(submitters)
	finished.Add(submitters)
	for t := range list {
		s := &list[t]
		s.target, s.all = tasks, &all
		for i := range s.cell {
			s.cell[i].owner = s
		}
		go func() {
			ready.Done()
			<-start
			s.began = time.Now()
			for i := int64(0); i < tasks; i++ {
				queue <- call{add, &s.cell[i%cells]}
			}
			s.submitted = time.Now()
			finished.Done()
		}()
	}
	ready.Wait()
	before, _ := usage()
	opened := time.Now()
	close(start)
	all.Wait()
	after, peak := usage()
	finished.Wait()
	var lastEnd, lastSubmit, enqueue, complete float64
	for i := range list {
		s := &list[i]
		lastEnd = max(lastEnd, milliseconds(s.ended.Sub(opened)))
		lastSubmit = max(lastSubmit, milliseconds(s.submitted.Sub(opened)))
		enqueue += milliseconds(s.submitted.Sub(s.began)) / float64(submitters)
		complete += milliseconds(s.ended.Sub(s.began)) / float64(submitters)
	}
	fmt.Println(lastEnd, enqueue, complete, lastSubmit, after-before, peak)
}

func max(a, b float64) float64 {
	if a > b {
		return a
	}
	return b
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	var queue chan call
	for in.Scan() {
		var submitters, workers int
		var tasks int64
		fmt.Sscan(in.Text(), &submitters, &tasks, &workers)
		if queue == nil {
			queue = make(chan call, 1024)
			for w := 0; w < workers; w++ {
				go func() {
					for c := range queue {
						c.fn(c.arg)
					}
				}()
			}
		}
		round(queue, submitters, tasks)
	}
}
