// W9 in the JDK's pools. Each line on stdin, "SYSTEM TROUBLE WORKERS TASKS THREADS" (jdk-fixed or jdk-fjp; plain,
// stuck, flooded or declared), is one round in a fresh pool; the answer is wall ms, CPU s and how many slept at once.
// The troubles are those of w9_blocked.cpp; THREADS counts in the declared one: jdk-fixed has so many, jdk-fjp at most.
// "jdk-fjp pair-... WORKERS FIRST SLEEPERS NS" is a round of blocking_pair.cpp; the answer is wall ns and CPU ns.
import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

public class Blocked {
    static volatile boolean stop;

    static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    // Blocks once, for a millisecond.
    static class Sleep implements ForkJoinPool.ManagedBlocker {
        private boolean over;

        @Override
        public boolean block() {
            sleep(1);
            over = true;
            return true;
        }

        @Override
        public boolean isReleasable() {
            return over;
        }
    }

    // Must block, and then does not.
    static class Nothing implements ForkJoinPool.ManagedBlocker {
        @Override
        public boolean block() {
            return true;
        }

        @Override
        public boolean isReleasable() {
            return false;
        }
    }

    static void block(ForkJoinPool.ManagedBlocker blocker) {
        try {
            ForkJoinPool.managedBlock(blocker);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    // One nap of a task: 1 ms, said or not.
    static class Naps {
        final boolean declared;
        final AtomicInteger asleep = new AtomicInteger(), atOnce = new AtomicInteger();

        Naps(boolean declared) {
            this.declared = declared;
        }

        void nap() {
            int now = asleep.incrementAndGet();
            if (now > atOnce.get()) {
                atOnce.accumulateAndGet(now, Math::max);
            }
            if (declared) {
                block(new Sleep());
            } else {
                sleep(1);
            }
            asleep.decrementAndGet();
        }
    }

    static Thread flooder(ExecutorService pool) {
        Thread thread = new Thread(() -> {
            AtomicLong ran = new AtomicLong();
            Runnable task = ran::incrementAndGet;
            long submitted = 0;
            while (!stop) {
                if (submitted - ran.get() >= 4096) {
                    LockSupport.parkNanos(50_000);
                    continue;
                }
                pool.execute(task);
                submitted++;
            }
        });
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    static long cpuNanos() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    // At most so many threads, those that make up for others that block included.
    static ForkJoinPool capped(int workers, int threads) {
        return new ForkJoinPool(workers, ForkJoinPool.defaultForkJoinWorkerThreadFactory, null, false, workers, threads,
            1, pool -> true, 60, TimeUnit.SECONDS);
    }

    static ExecutorService pool(boolean fork, boolean declared, int workers, int threads) {
        if (declared) {
            return fork ? capped(workers, threads) : Executors.newFixedThreadPool(threads);
        }
        return fork ? new ForkJoinPool(workers) : Executors.newFixedThreadPool(workers);
    }

    static String round(ExecutorService pool, boolean fork, String trouble, int threads, int tasks)
        throws InterruptedException {
        boolean declared = trouble.equals("declared") && fork;
        Naps warmUp = new Naps(declared), naps = new Naps(declared);
        CountDownLatch warm = new CountDownLatch(threads * 4); // both pools start their threads with the first tasks
        for (int i = 0; i < threads * 4; i++) {
            pool.execute(() -> {
                warmUp.nap();
                warm.countDown();
            });
        }
        warm.await();
        stop = false;
        Thread[] flooders = new Thread[trouble.equals("flooded") ? 4 : 0];
        for (int i = 0; i < flooders.length; i++) {
            flooders[i] = flooder(pool);
        }
        sleep(5);
        CountDownLatch all = new CountDownLatch(tasks), letGo = new CountDownLatch(1);
        long cpu = cpuNanos(), begin = System.nanoTime();
        if (trouble.equals("stuck")) {
            pool.execute(() -> {
                try {
                    letGo.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
        }
        for (int i = 0; i < tasks; i++) {
            pool.execute(() -> {
                naps.nap();
                all.countDown();
            });
        }
        all.await();
        double wall = (System.nanoTime() - begin) * 1e-6;
        cpu = cpuNanos() - cpu;
        stop = true;
        for (Thread flooder : flooders) {
            flooder.join();
        }
        letGo.countDown();
        pool.shutdown();
        return wall + " " + cpu * 1e-9 + " " + naps.atOnce.get();
    }

    static class Sleeper implements Runnable {
        final ForkJoinPool pool;

        Sleeper(ForkJoinPool pool) {
            this.pool = pool;
        }

        @Override
        public void run() {
            Blocked.sleep(1);
            if (!stop) {
                pool.execute(this);
            }
        }
    }

    static String pair(int workers, int first, int sleepers, long duration) throws InterruptedException {
        ForkJoinPool pool = new ForkJoinPool(workers);
        CountDownLatch met = new CountDownLatch(first), measured = new CountDownLatch(1);
        for (int i = 0; i < first; i++) {
            pool.execute(() -> {
                met.countDown();
                try {
                    met.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
        }
        met.await();
        stop = false;
        double[] answer = new double[2];
        pool.execute(() -> { // before the others, for a worker that has tasks of its own looks at no submitted one
            sleep(5);
            ThreadMXBean threads = ManagementFactory.getThreadMXBean();
            Nothing nothing = new Nothing();
            long pairs = 0, cpu = threads.getCurrentThreadCpuTime(), begin = System.nanoTime(), now = begin;
            for (; now - begin < duration; now = System.nanoTime()) {
                for (int i = 0; i < 64; i++, pairs++) {
                    block(nothing);
                }
            }
            answer[0] = (double) (now - begin) / pairs;
            answer[1] = (double) (threads.getCurrentThreadCpuTime() - cpu) / pairs;
            measured.countDown();
        });
        for (int i = 0; i < sleepers; i++) {
            pool.execute(new Sleeper(pool));
        }
        measured.await();
        stop = true;
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
        return answer[0] + " " + answer[1];
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null;) {
            String[] words = line.trim().split(" ");
            int workers = Integer.parseInt(words[2]);
            if (words[1].startsWith("pair-")) {
                System.out.println(
                    pair(workers, Integer.parseInt(words[3]), Integer.parseInt(words[4]), Long.parseLong(words[5])));
                continue;
            }
            boolean fork = words[0].equals("jdk-fjp"), declared = words[1].equals("declared");
            int threads = declared ? Integer.parseInt(words[4]) : workers;
            ExecutorService pool = pool(fork, declared, workers, threads);
            System.out.println(round(pool, fork, words[1], threads, Integer.parseInt(words[3])));
        }
        System.exit(0);
    }
}
