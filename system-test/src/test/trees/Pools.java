import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A JVM at work: pools of platform and virtual threads, a heap that is collected, code that is compiled. args[0]: the
 * file that ends it.
 */
public class Pools {
    public static void main(String[] args) throws Exception {
        long sum = 0;
        System.out.println("started");
        try (ExecutorService pool = Executors.newFixedThreadPool(3);
                ExecutorService light = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int round = 0; round < 200 || !Files.exists(Path.of(args[0])); round++) {
                int seed = round;
                long hash = pool.submit(() -> hash(seed)).get() + light.submit(() -> hash(seed + 1)).get();
                if (round < 200) {
                    sum = 17 * sum + hash;
                }
                Thread.sleep(10);
            }
        }
        System.out.println("result " + sum);
    }

    private static long hash(int seed) {
        byte[] garbage = new byte[1 << 18];
        long hash = seed;
        for (int i = 0; i < garbage.length; i++) {
            garbage[i] = (byte) hash;
            hash = 31 * hash + garbage[i / 2];
        }
        return hash;
    }
}
