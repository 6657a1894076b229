// W4 in Java, as in the article: RecursiveTasks, submitted to a ForkJoinPool from outside and joined in reverse. Each line
// on stdin, "SYSTEM N WARM_UP_NS COUNTED_NS", is one iteration of jdk-fjp or jdk-direct (computeDirectly); the answer is
// the operations in a millisecond, and the CPU microseconds of the process for each.
//
// A task that is done does nothing when it is submitted again, which the article overlooked: tasks are reinitialised at
// their join, so that every operation computes.
import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.util.Random;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveTask;

public class ForkJoin {
    abstract static class Calculation extends RecursiveTask<Double> {
        final double input;

        Calculation(double input) {
            this.input = input;
        }

        abstract double direct();
    }

    static class Sin extends Calculation {
        Sin(double input) {
            super(input);
        }

        @Override
        double direct() {
            return Math.sin(input);
        }

        @Override
        protected Double compute() {
            return Math.sin(input);
        }
    }

    static class Cos extends Calculation {
        Cos(double input) {
            super(input);
        }

        @Override
        double direct() {
            return Math.cos(input);
        }

        @Override
        protected Double compute() {
            return Math.cos(input);
        }
    }

    static class Tan extends Calculation {
        Tan(double input) {
            super(input);
        }

        @Override
        double direct() {
            return Math.sin(input) / Math.cos(input);
        }

        @Override
        protected Double compute() {
            Sin sine = new Sin(input);
            Cos cosine = new Cos(input);
            sine.fork();
            cosine.fork();
            double c = cosine.join();
            return sine.join() / c;
        }
    }

    static Calculation[] tasks(int n) {
        Random random = new Random(0x32106234567L);
        Calculation[] tasks = new Calculation[3 * n];
        for (int i = 0; i < tasks.length; i += 3) {
            tasks[i] = new Sin(random.nextDouble());
            tasks[i + 1] = new Cos(random.nextDouble());
            tasks[i + 2] = new Tan(random.nextDouble());
        }
        return tasks;
    }

    static double computeDirectly(Calculation[] tasks) {
        double sum = 0;
        for (int i = tasks.length - 1; i >= 0; i--) {
            sum += tasks[i].direct();
        }
        return sum;
    }

    static double forkJoin(ForkJoinPool pool, Calculation[] tasks) {
        for (Calculation task : tasks) {
            pool.submit(task);
        }
        double sum = 0;
        for (int i = tasks.length - 1; i >= 0; i--) {
            sum += tasks[i].join();
            tasks[i].reinitialize();
        }
        return sum;
    }

    static long cpuNanos() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    // {operations, nanoseconds} of at least `nanos`. Sums are compared to the last bits only, since the interpreter's
    // sine and the compiled one may differ in them.
    static long[] runFor(ForkJoinPool pool, Calculation[] tasks, double expected, boolean forks, long nanos) {
        long begin = System.nanoTime(), took, operations = 0;
        do {
            double sum = forks ? forkJoin(pool, tasks) : computeDirectly(tasks);
            if (Math.abs(sum - expected) > 1e-9) {
                System.exit(1);
            }
            operations++;
            took = System.nanoTime() - begin;
        } while (took < nanos);
        return new long[] {operations, took};
    }

    public static void main(String[] args) throws Exception {
        ForkJoinPool pool = new ForkJoinPool();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        Calculation[] tasks = {};
        for (String line; (line = in.readLine()) != null;) {
            String[] words = line.trim().split(" ");
            int n = Integer.parseInt(words[1]);
            if (tasks.length != 3 * n) {
                tasks = tasks(n);
            }
            boolean forks = words[0].equals("jdk-fjp");
            double expected = computeDirectly(tasks);
            runFor(pool, tasks, expected, forks, Long.parseLong(words[2]));
            long cpu = cpuNanos();
            long[] counted = runFor(pool, tasks, expected, forks, Long.parseLong(words[3]));
            cpu = cpuNanos() - cpu;
            System.out.println(counted[0] / (counted[1] * 1e-6) + " " + cpu * 1e-3 / counted[0]);
        }
        System.exit(0);
    }
}
