package org.udckpt.process.cuda;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;
import org.udckpt.linux.ThreadEnd;

/** A step for many processes at once, each in a thread: what the driver waits for may be another process's kernel. */
public final class SideBySide {
    private SideBySide() {}

    /**
     * Returns when all steps have ended, also where the caller is interrupted: nobody may go on while the driver works.
     *
     * @throws RuntimeException or an Error: the first that a step has thrown, the others suppressed in it
     */
    public static <T> void each(Collection<T> all, Consumer<T> step) {
        List<Throwable> failures = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (T one : all) {
            threads.add(Thread.ofPlatform().daemon().name("cuda").start(() -> {
                try {
                    step.accept(one);
                } catch (Throwable failure) {
                    synchronized (failures) {
                        failures.add(failure);
                    }
                }
            }));
        }
        threads.forEach(ThreadEnd::await);
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
}
