// W2 in Go: time.AfterFunc. Each line on stdin is one round, and the answer the figures of one in hcperf:
//
//	storm SUBMITTERS TIMERS LONGEST    ms until the last submitter has returned, CPU ns of a timer, lateness p50 p99 max
//	paced TIMERS                       CPU ns of a timer, then the lateness of each
//	rearm COUNT PASSES                 wall and CPU ns of a change: put off, brought forward, replaced
package main

import (
	"bufio"
	"fmt"
	"math/rand"
	"os"
	"sort"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const probeStride = 64

type submitter struct {
	_     [128]byte
	fired int64
	_     [128]byte

	target   int64
	all      *sync.WaitGroup
	late     []float64 // one for each probe
	returned time.Time
}

func (s *submitter) add() {
	if atomic.AddInt64(&s.fired, 1) == s.target {
		s.all.Done()
	}
}

// lateness in ns; a timer that fired early ends the program.
func lateness(due time.Time) float64 {
	late := time.Since(due)
	if late < 0 {
		panic("a timer fired early")
	}
	return float64(late)
}

func (s *submitter) armAll(random *rand.Rand, longest time.Duration) {
	for i := int64(0); i < s.target; i++ {
		delay := time.Millisecond + time.Duration(random.Int63n(int64(longest-time.Millisecond)))
		if i%probeStride != 0 {
			time.AfterFunc(delay, s.add)
			continue
		}
		due, late := time.Now().Add(delay), &s.late[i/probeStride]
		time.AfterFunc(delay, func() {
			*late = lateness(due)
			s.add()
		})
	}
	s.returned = time.Now()
}

func cpu() float64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Nano() + u.Stime.Nano())
}

func storm(submitters int, timers int64, longest time.Duration) {
	var ready, finished, all sync.WaitGroup
	start := make(chan struct{})
	list := make([]submitter, submitters)
	ready.Add(submitters)
	finished.Add(submitters)
	all.Add(submitters)
	for i := range list {
		s, random := &list[i], rand.New(rand.NewSource(int64(i)))
		s.target, s.all, s.late = timers, &all, make([]float64, (timers-1)/probeStride+1)
		go func() {
			ready.Done()
			<-start
			s.armAll(random, longest)
			finished.Done()
		}()
	}
	ready.Wait()
	before, opened := cpu(), time.Now()
	close(start)
	finished.Wait()
	all.Wait()
	used := cpu() - before
	var enqueue float64
	var late []float64
	for i := range list {
		if ms := float64(list[i].returned.Sub(opened)) / 1e6; ms > enqueue {
			enqueue = ms
		}
		late = append(late, list[i].late...)
	}
	sort.Float64s(late)
	n := len(late)
	fmt.Println(enqueue, used/float64(timers*int64(submitters)), late[(n-1)/2], late[(n*99+99)/100-1], late[n-1])
}

func paced(timers int) {
	var all sync.WaitGroup
	all.Add(timers)
	late := make([]float64, timers)
	before, first := cpu(), time.Now().Add(20*time.Millisecond)
	for i := range late {
		due, late := first.Add(time.Duration(i)*time.Millisecond+time.Duration(rand.Int63n(1e6))), &late[i]
		time.AfterFunc(time.Until(due), func() {
			*late = lateness(due)
			all.Done()
		})
	}
	all.Wait()
	fmt.Print((cpu() - before) / float64(timers))
	for _, v := range late {
		fmt.Print(" ", v)
	}
	fmt.Println()
}

func rearm(count, passes int) {
	timers := make([]*time.Timer, count)
	nothing := func() {}
	for i := range timers {
		timers[i] = time.AfterFunc(time.Hour, nothing)
	}
	measure := func(change func(i, pass int)) {
		before, begin := cpu(), time.Now()
		for pass := 0; pass < passes; pass++ {
			for i := range timers {
				change(i, pass)
			}
		}
		changes := float64(count * passes)
		fmt.Print(float64(time.Since(begin))/changes, (cpu()-before)/changes, " ")
	}
	measure(func(i, _ int) { timers[i].Reset(time.Hour) })
	measure(func(i, pass int) { timers[i].Reset(time.Hour - time.Duration(pass+1)*time.Second) })
	measure(func(i, _ int) {
		timers[i].Stop()
		timers[i] = time.AfterFunc(time.Hour, nothing)
	})
	for _, t := range timers {
		t.Stop()
	}
	fmt.Println()
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var what string
		var a, b, c int64
		fmt.Sscan(in.Text(), &what, &a, &b, &c)
		switch what {
		case "storm":
			storm(int(a), b, time.Duration(c))
		case "paced":
			paced(int(a))
		case "rearm":
			rearm(int(a), int(b))
		}
	}
}
