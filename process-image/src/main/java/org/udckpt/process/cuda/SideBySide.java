package org.udckpt.process.cuda;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.udckpt.linux.ThreadEnd;

/** A step for many processes at once, each in a thread: what the driver waits for may be another process's kernel. */
public final class SideBySide {
    /** A GPU's memory comes to the host, or back, in seconds. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private SideBySide() {}

    /**
     * Returns when all steps have ended, also where the caller is interrupted: nobody may go on while the driver works.
     *
     * @param slow hears, once for each, of those whose step has not ended after half a minute
     * @throws RuntimeException or an Error: the first that a step has thrown, the others suppressed in it
     */
    public static <T> void each(Collection<T> all, Consumer<T> step, Consumer<T> slow) {
        each(all, step, PATIENCE, slow);
    }

    static <T> void each(Collection<T> all, Consumer<T> step, Duration patience, Consumer<T> slow) {
        List<Throwable> failures = new ArrayList<>();
        Map<Thread, T> threads = new LinkedHashMap<>();
        for (T one : all) {
            threads.put(Thread.ofPlatform().daemon().name("cuda").start(() -> {
                try {
                    step.accept(one);
                } catch (Throwable failure) {
                    synchronized (failures) {
                        failures.add(failure);
                    }
                }
            }), one);
        }
        long end = System.nanoTime() + patience.toNanos();
        threads.forEach((thread, one) -> {
            if (!ThreadEnd.await(thread, end)) {
                slow.accept(one);
            }
        });
        threads.keySet().forEach(ThreadEnd::await);
        if (!failures.isEmpty()) {
            Throwable first = failures.getFirst();
            failures.subList(1, failures.size()).forEach(first::addSuppressed);
            switch (first) {
                case Error error -> throw error;
                case RuntimeException unchecked -> throw unchecked;
                default -> throw new AssertionError(first); // steps declare none
            }
        }
    }

    /** What to say of one of them. @param hostPid as this host numbers it */
    public static String slow(String name, int hostPid) {
        return name + ": the driver has worked for it for " + PATIENCE.toSeconds() + " s, and is waited for; if it "
                + "never ends, kill -KILL " + hostPid + " gives the process up";
    }
}
