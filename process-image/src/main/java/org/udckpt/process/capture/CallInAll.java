package org.udckpt.process.capture;

import java.util.List;
import java.util.function.IntFunction;
import org.udckpt.process.trace.Injector;

/**
 * The same system call in many stopped threads, of one process or of several: begun in all, then awaited, so that none
 * waits for the processor time of the one before. When one dies, the others are brought to the end of the call all the
 * same: they are stopped, and can be let go.
 */
final class CallInAll {
    private interface Step {
        void take(int index);
    }

    private final List<Injector> threads;
    private final boolean[] failed;
    private RuntimeException first;

    private CallInAll(List<Injector> threads) {
        this.threads = threads;
        this.failed = new boolean[threads.size()];
    }

    /**
     * The results, or {@code -errno}, in the order of the threads.
     *
     * @param call number and arguments for the thread with an index
     */
    static long[] make(List<Injector> threads, IntFunction<long[]> call) {
        CallInAll one = new CallInAll(threads);
        long[] results = new long[threads.size()];
        one.each(i -> {
            long[] words = call.apply(i);
            threads.get(i).begin(words[0], java.util.Arrays.copyOfRange(words, 1, words.length));
        });
        one.each(i -> threads.get(i).enter());
        one.each(i -> results[i] = threads.get(i).finish());
        if (one.first != null) {
            throw one.first;
        }
        return results;
    }

    private void each(Step step) {
        for (int i = 0; i < threads.size(); i++) {
            if (!failed[i]) {
                try {
                    step.take(i);
                } catch (RuntimeException failure) {
                    failed[i] = true;
                    if (first == null) {
                        first = failure;
                    } else {
                        first.addSuppressed(failure);
                    }
                }
            }
        }
    }
}
