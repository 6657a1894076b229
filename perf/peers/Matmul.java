// W3 in Java: the three types of work queue of the article, written for this comparison. Each line on stdin, "TYPE
// THREADS TASKS", is one round with a fresh set of threads that wait for work before the time starts; the answer is
// the milliseconds from the first task queued to the end of the last one.
//
//     shared    one LinkedBlockingDeque
//     pinned    a LinkedBlockingDeque for each thread, tasks are dealt in turn
//     stealing  the same; a thread without work takes from the far end of the others' deques before it waits
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Random;
import java.util.concurrent.BlockingDeque;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

public class Matmul {
    static final int N = 10, PAIRS = 1024;

    static class Pair implements Runnable {
        final double[][] a = new double[N][N], b = new double[N][N];
        double[][] product;
        final AtomicInteger done = new AtomicInteger();
        volatile int target;
        volatile CountDownLatch all;

        Pair(Random random) {
            for (int i = 0; i < N; i++) {
                for (int j = 0; j < N; j++) {
                    a[i][j] = random.nextDouble();
                    b[i][j] = random.nextDouble();
                }
            }
            product = multiply();
        }

        double[][] multiply() {
            double[][] c = new double[N][N];
            for (int i = 0; i < N; i++) {
                for (int j = 0; j < N; j++) {
                    double sum = 0;
                    for (int k = 0; k < N; k++) {
                        sum += a[i][k] * b[k][j];
                    }
                    c[i][j] = sum;
                }
            }
            return c;
        }

        @Override
        public void run() {
            double[][] c = multiply();
            for (int i = 0; i < N; i++) {
                for (int j = 0; j < N; j++) {
                    if (c[i][j] != product[i][j]) {
                        System.exit(1);
                    }
                }
            }
            if (done.incrementAndGet() == target) {
                all.countDown();
            }
        }
    }

    static final Runnable STOP = () -> { };

    static class Queues {
        final BlockingDeque<Runnable>[] queues;
        final boolean stealing;
        final Thread[] threads;
        int next;

        @SuppressWarnings({"unchecked", "rawtypes"})
        Queues(String type, int workers) {
            stealing = type.equals("stealing");
            queues = new BlockingDeque[type.equals("shared") ? 1 : workers];
            for (int q = 0; q < queues.length; q++) {
                queues[q] = new LinkedBlockingDeque<>();
            }
            threads = new Thread[workers];
            for (int t = 0; t < workers; t++) {
                int own = t % queues.length;
                threads[t] = new Thread(() -> work(own));
                threads[t].setDaemon(true);
                threads[t].start();
            }
        }

        void submit(Runnable task) {
            queues[next].addLast(task);
            next = next + 1 == queues.length ? 0 : next + 1;
        }

        Runnable take(int own) throws InterruptedException {
            if (!stealing) {
                return queues[own].takeFirst();
            }
            for (;;) {
                Runnable task = queues[own].pollFirst();
                for (int i = 1; task == null && i < queues.length; i++) {
                    BlockingDeque<Runnable> victim = queues[(own + i) % queues.length];
                    task = victim.pollLast();
                    if (task == STOP) { // that is meant for its owner
                        victim.addLast(task);
                        task = null;
                    }
                }
                if (task == null) { // nothing anywhere: wait at the own queue, and look at the others now and then
                    task = queues[own].pollFirst(1, TimeUnit.MILLISECONDS);
                }
                if (task != null) {
                    return task;
                }
            }
        }

        void work(int own) {
            try {
                for (Runnable task; (task = take(own)) != STOP;) {
                    task.run();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        void stop() throws InterruptedException {
            for (int t = 0; t < threads.length; t++) {
                queues[t % queues.length].addLast(STOP);
            }
            for (Thread t : threads) {
                t.join();
            }
        }
    }

    static double round(Pair[] pairs, String type, int workers, int tasks) throws InterruptedException {
        Queues queues = new Queues(type, workers);
        CountDownLatch all = new CountDownLatch(Math.min(tasks, PAIRS));
        for (int p = 0; p < PAIRS; p++) {
            pairs[p].done.set(0);
            pairs[p].target = tasks / PAIRS + (p < tasks % PAIRS ? 1 : 0);
            pairs[p].all = all;
        }
        Thread.sleep(2);
        long begin = System.nanoTime();
        for (int i = 0; i < tasks; i++) {
            queues.submit(pairs[i % PAIRS]);
        }
        all.await();
        double took = (System.nanoTime() - begin) * 1e-6;
        queues.stop();
        return took;
    }

    public static void main(String[] args) throws Exception {
        Random random = new Random(1);
        Pair[] pairs = new Pair[PAIRS];
        for (int p = 0; p < PAIRS; p++) {
            pairs[p] = new Pair(random);
        }
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null;) {
            String[] words = line.trim().split(" ");
            System.out.println(round(pairs, words[0], Integer.parseInt(words[1]), Integer.parseInt(words[2])));
        }
    }
}
