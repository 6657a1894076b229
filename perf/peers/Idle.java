// W7 in the JDK's pools. `java Idle SYSTEM`, jdk-fixed or jdk-fjp; the line on stdin is "WORKERS SETTLE_NS IDLE_NS".
// The answer is the CPU ns of the process while idle (the JVM's own threads included), and of the pool's threads
// only: their CPU ns, their context switches, and how many there are.
import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;

public class Idle {
    // {CPU ns, context switches, number} of the threads that are called like the workers of a pool.
    static long[] poolThreads() throws Exception {
        long[] sum = new long[3];
        for (File task : new File("/proc/self/task").listFiles()) {
            try {
                List<String> status = Files.readAllLines(new File(task, "status").toPath());
                String name = status.get(0).substring(5).trim();
                if (!name.startsWith("pool-") && !name.startsWith("ForkJoin")) {
                    continue;
                }
                sum[2]++;
                sum[0] += Long.parseLong(Files.readString(new File(task, "schedstat").toPath()).split(" ")[0]);
                for (String line : status) {
                    if (line.contains("ctxt_switches")) {
                        sum[1] += Long.parseLong(line.replaceAll("[^0-9]", ""));
                    }
                }
            } catch (NoSuchFileException gone) {
                continue;
            }
        }
        return sum;
    }

    public static void main(String[] args) throws Exception {
        var system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        String[] words = new BufferedReader(new InputStreamReader(System.in)).readLine().trim().split(" ");
        int workers = Integer.parseInt(words[0]);
        boolean fork = args[0].equals("jdk-fjp");
        ExecutorService pool = fork ? new ForkJoinPool(workers) : Executors.newFixedThreadPool(workers);
        CountDownLatch done = new CountDownLatch(10_000);
        for (int i = 0; i < 10_000; i++) {
            pool.execute(done::countDown);
        }
        done.await();
        Thread.sleep(Long.parseLong(words[1]) / 1_000_000);
        long[] before = poolThreads();
        long cpu = system.getProcessCpuTime();
        Thread.sleep(Long.parseLong(words[2]) / 1_000_000);
        cpu = system.getProcessCpuTime() - cpu;
        long[] after = poolThreads();
        System.out.println(cpu + " " + (after[0] - before[0]) + " " + (after[1] - before[1]) + " " + after[2]);
        System.exit(0);
    }
}
