// W10 in the JDK's pools. Each line on stdin is one round, in a pool that is kept for the next request of its kind:
//
//     "SYSTEM breath KEEP_ALIVE_NS WORKERS"   the answer is burst ns, peak, at half, shrunk; see breathe_threads.cpp
//     "SYSTEM first KEEP_ALIVE_NS SAMPLES"    the answer is so many times to the first task, in ns
//
// SYSTEM is jdk-timeout, jdk-cached or jdk-fjp.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

public class Breathe {
    static final int WORKERS = 8;
    static final long GAP = 1_000_000;

    static ExecutorService pool(String system, long keepAlive) {
        switch (system) {
            case "jdk-timeout": {
                ThreadPoolExecutor pool = new ThreadPoolExecutor(WORKERS, WORKERS, keepAlive, TimeUnit.NANOSECONDS,
                    new LinkedBlockingQueue<>());
                pool.allowCoreThreadTimeOut(true);
                return pool;
            }
            case "jdk-cached":
                return new ThreadPoolExecutor(0, WORKERS, keepAlive, TimeUnit.NANOSECONDS, new SynchronousQueue<>());
            case "jdk-fjp":
                return new ForkJoinPool(WORKERS, ForkJoinPool.defaultForkJoinWorkerThreadFactory, null, true, 0,
                    WORKERS, 0, null, keepAlive, TimeUnit.NANOSECONDS);
            default:
                throw new IllegalArgumentException(system);
        }
    }

    static int threads(ExecutorService pool) {
        return pool instanceof ForkJoinPool ? ((ForkJoinPool) pool).getPoolSize()
            : ((ThreadPoolExecutor) pool).getPoolSize();
    }

    static void nap(long ns) {
        for (long end = System.nanoTime() + ns, left = ns; left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    static void shrink(ExecutorService pool, long every) {
        while (threads(pool) > 0) {
            nap(every);
        }
    }

    static String breath(ExecutorService pool, long keepAlive, int workers) throws InterruptedException {
        CountDownLatch toStart = new CountDownLatch(workers), toEnd = new CountDownLatch(workers);
        AtomicLong started = new AtomicLong();
        long submit = System.nanoTime();
        for (int i = 0; i < workers; i++) {
            pool.execute(() -> {
                long now = System.nanoTime();
                started.accumulateAndGet(now - submit, Math::max);
                toStart.countDown();
                try {
                    toStart.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
                toEnd.countDown();
            });
        }
        toEnd.await();
        long ended = System.nanoTime();
        int peak = threads(pool);
        nap(keepAlive / 2);
        int atHalf = threads(pool);
        shrink(pool, keepAlive / 100);
        double shrunk = (double) (System.nanoTime() - ended) / keepAlive;
        nap(GAP);
        return started.get() + " " + peak + " " + atHalf + " " + shrunk;
    }

    static String first(ExecutorService pool, int samples) {
        StringBuilder answer = new StringBuilder();
        for (int i = 0; i < samples; i++) {
            shrink(pool, GAP);
            nap(GAP);
            AtomicLong started = new AtomicLong();
            long submit = System.nanoTime();
            pool.execute(() -> started.set(System.nanoTime() - submit));
            do {
                nap(GAP);
            } while (started.get() == 0);
            answer.append(started.get()).append(' ');
        }
        return answer.toString();
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        Map<String, ExecutorService> pools = new HashMap<>();
        for (String line; (line = in.readLine()) != null;) {
            String[] words = line.trim().split(" ");
            long keepAlive = Long.parseLong(words[2]);
            int n = Integer.parseInt(words[3]);
            ExecutorService pool = pools.computeIfAbsent(words[0] + " " + words[2], key -> pool(words[0], keepAlive));
            System.out.println(words[1].equals("breath") ? breath(pool, keepAlive, n) : first(pool, n));
        }
        System.exit(0);
    }
}
