// W1 in the JDK's pools. `java Storm SYSTEM`: jdk-fixed, jdk-fjp or jdk-fjp-async. Each line on stdin, "SUBMITTERS
// TASKS WORKERS", is one round; the answer is the figures of storm.h in their order: wall, enqueue, complete,
// enqueued (ms), CPU s, and the peak of memory in bytes. Submitters are new threads each round; the pool stays. The 1
// 024 tasks of a submitter are made before the round, so that the pools are measured without the making of tasks.
import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicLong;

public class Storm {
    static final int CELLS = 1024;

    static class Submitter extends Thread {
        final Executor pool;
        final long tasks;
        final CountDownLatch ready, start, all;
        final AtomicLong count = new AtomicLong();
        final Runnable[] cells = new Runnable[CELLS];
        volatile long began, submitted, ended;

        Submitter(Executor pool, long tasks, CountDownLatch ready, CountDownLatch start, CountDownLatch all) {
            this.pool = pool;
            this.tasks = tasks;
            this.ready = ready;
            this.start = start;
            this.all = all;
            for (int i = 0; i < CELLS; i++) {
                cells[i] = () -> {
                    if (count.incrementAndGet() == tasks) {
                        ended = System.nanoTime();
                        all.countDown();
                    }
                };
            }
            setDaemon(true);
        }

        @Override
        public void run() {
            ready.countDown();
            try {
                start.await();
            } catch (InterruptedException e) {
                return;
            }
            began = System.nanoTime();
            for (long i = 0; i < tasks; i++) {
                pool.execute(cells[(int) (i % CELLS)]);
            }
            submitted = System.nanoTime();
        }
    }

    static Executor pool(String system, int workers) {
        switch (system) {
            case "jdk-fixed":
                return Executors.newFixedThreadPool(workers);
            case "jdk-fjp":
                return new ForkJoinPool(workers);
            case "jdk-fjp-async":
                return new ForkJoinPool(workers, ForkJoinPool.defaultForkJoinWorkerThreadFactory, null, true);
            default:
                throw new IllegalArgumentException(system);
        }
    }

    static long cpuNanos() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    static long peakBytes() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmHWM:")) {
                return Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024;
            }
        }
        return 0;
    }

    static String round(Executor pool, int submitters, long tasks) throws Exception {
        CountDownLatch ready = new CountDownLatch(submitters), start = new CountDownLatch(1);
        CountDownLatch all = new CountDownLatch(submitters);
        Submitter[] threads = new Submitter[submitters];
        for (int t = 0; t < submitters; t++) {
            threads[t] = new Submitter(pool, tasks, ready, start, all);
            threads[t].start();
        }
        ready.await();
        long cpu = cpuNanos(), opened = System.nanoTime();
        start.countDown();
        all.await();
        cpu = cpuNanos() - cpu;
        double enqueue = 0, complete = 0, lastEnd = 0, lastSubmit = 0;
        for (Submitter s : threads) {
            s.join();
            enqueue += (s.submitted - s.began) * 1e-6 / submitters;
            complete += (s.ended - s.began) * 1e-6 / submitters;
            lastEnd = Math.max(lastEnd, (s.ended - opened) * 1e-6);
            lastSubmit = Math.max(lastSubmit, (s.submitted - opened) * 1e-6);
        }
        return lastEnd + " " + enqueue + " " + complete + " " + lastSubmit + " " + cpu * 1e-9 + " " + peakBytes();
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        Executor pool = null;
        for (String line; (line = in.readLine()) != null;) {
            String[] words = line.trim().split(" ");
            if (pool == null) {
                pool = pool(args[0], Integer.parseInt(words[2]));
            }
            System.out.println(round(pool, Integer.parseInt(words[0]), Long.parseLong(words[1])));
        }
        System.exit(0);
    }
}
