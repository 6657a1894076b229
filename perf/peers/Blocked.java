// W9 in the JDK's pools. Each line on stdin, "SYSTEM TROUBLE WORKERS TASKS" (jdk-fixed or jdk-fjp; plain, stuck or
// flooded), is one round in a fresh pool; the answer is wall ms and CPU s. The troubles are those of w9_blocked.cpp.
import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
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

    static String round(ExecutorService pool, String trouble, int workers, int tasks) throws InterruptedException {
        CountDownLatch warm = new CountDownLatch(workers * 4); // both pools start their threads with the first tasks
        for (int i = 0; i < workers * 4; i++) {
            pool.execute(() -> {
                sleep(1);
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
                sleep(1);
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
        return wall + " " + cpu * 1e-9;
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null;) {
            String[] words = line.trim().split(" ");
            int workers = Integer.parseInt(words[2]);
            boolean fork = words[0].equals("jdk-fjp");
            ExecutorService pool = fork ? new ForkJoinPool(workers) : Executors.newFixedThreadPool(workers);
            System.out.println(round(pool, words[1], workers, Integer.parseInt(words[3])));
        }
        System.exit(0);
    }
}
