// W2 in the JDK: ScheduledThreadPoolExecutor, with 8 threads for a storm and 2 for paced timers. Each line on stdin is
// one round, and the answer the figures of one in hcperf:
//
//     storm SUBMITTERS TIMERS LONGEST
//                     ms until the last submitter has returned, CPU ns of a timer, lateness p50 p99 max
//     paced TIMERS    CPU ns of a timer, then the lateness of each
import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

public class Schedule {
    static final int PROBE_STRIDE = 64;

    static long cpuNanos() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    // In ns; a timer that fired early ends the program.
    static long lateness(long due) {
        long late = System.nanoTime() - due;
        if (late < 0) {
            System.err.println("jdk-stpe: a timer fired early");
            System.exit(1);
        }
        return late;
    }

    static class Submitter extends Thread {
        final ScheduledThreadPoolExecutor pool;
        final int timers;
        final long longest;
        final CountDownLatch ready, start, all;
        final AtomicLong fired = new AtomicLong();
        final long[] late;
        final Runnable add;
        long returned;

        Submitter(ScheduledThreadPoolExecutor pool, int timers, long longest, CountDownLatch ready,
            CountDownLatch start, CountDownLatch all) {
            this.pool = pool;
            this.timers = timers;
            this.longest = longest;
            this.ready = ready;
            this.start = start;
            this.all = all;
            late = new long[(timers - 1) / PROBE_STRIDE + 1];
            add = () -> {
                if (fired.incrementAndGet() == timers) {
                    all.countDown();
                }
            };
        }

        @Override
        public void run() {
            ready.countDown();
            try {
                start.await();
            } catch (InterruptedException e) {
                return;
            }
            ThreadLocalRandom random = ThreadLocalRandom.current();
            for (int i = 0; i < timers; i++) {
                long delay = random.nextLong(1_000_000, longest);
                if (i % PROBE_STRIDE != 0) {
                    pool.schedule(add, delay, TimeUnit.NANOSECONDS);
                    continue;
                }
                int probe = i / PROBE_STRIDE;
                long due = System.nanoTime() + delay;
                pool.schedule(() -> {
                    late[probe] = lateness(due);
                    add.run();
                }, delay, TimeUnit.NANOSECONDS);
            }
            returned = System.nanoTime();
        }
    }

    static String storm(ScheduledThreadPoolExecutor pool, int submitters, int timers, long longest) throws Exception {
        CountDownLatch ready = new CountDownLatch(submitters), start = new CountDownLatch(1);
        CountDownLatch all = new CountDownLatch(submitters);
        Submitter[] threads = new Submitter[submitters];
        for (int i = 0; i < submitters; i++) {
            threads[i] = new Submitter(pool, timers, longest, ready, start, all);
            threads[i].start();
        }
        ready.await();
        long cpu = cpuNanos(), opened = System.nanoTime();
        start.countDown();
        all.await();
        cpu = cpuNanos() - cpu;
        double enqueue = 0;
        int probes = threads[0].late.length, n = probes * submitters;
        long[] late = new long[n];
        for (int i = 0; i < submitters; i++) {
            threads[i].join();
            enqueue = Math.max(enqueue, (threads[i].returned - opened) * 1e-6);
            System.arraycopy(threads[i].late, 0, late, i * probes, probes);
        }
        Arrays.sort(late);
        return enqueue + " " + (double) cpu / ((double) submitters * timers) + " " + late[(n - 1) / 2] + " "
            + late[(n * 99 + 99) / 100 - 1] + " " + late[n - 1];
    }

    static String paced(ScheduledThreadPoolExecutor pool, int timers) throws Exception {
        CountDownLatch all = new CountDownLatch(timers);
        long[] late = new long[timers];
        long cpu = cpuNanos(), first = System.nanoTime() + 20_000_000;
        for (int i = 0; i < timers; i++) {
            int shot = i;
            long due = first + i * 1_000_000L + ThreadLocalRandom.current().nextLong(1_000_000);
            pool.schedule(() -> {
                late[shot] = lateness(due);
                all.countDown();
            }, due - System.nanoTime(), TimeUnit.NANOSECONDS);
        }
        all.await();
        StringBuilder answer = new StringBuilder();
        answer.append((double) (cpuNanos() - cpu) / timers);
        for (long v : late) {
            answer.append(' ').append(v);
        }
        return answer.toString();
    }

    public static void main(String[] args) throws Exception {
        var many = new ScheduledThreadPoolExecutor(8);
        var few = new ScheduledThreadPoolExecutor(2);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null;) {
            String[] words = line.trim().split(" ");
            if (words[0].equals("storm")) {
                int submitters = Integer.parseInt(words[1]), timers = Integer.parseInt(words[2]);
                System.out.println(storm(many, submitters, timers, Long.parseLong(words[3])));
            } else {
                System.out.println(paced(few, Integer.parseInt(words[1])));
            }
        }
        System.exit(0);
    }
}
