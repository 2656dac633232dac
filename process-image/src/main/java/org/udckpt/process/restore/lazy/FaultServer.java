package org.udckpt.process.restore.lazy;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static org.udckpt.linux.LinuxConstants.POLLIN;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.TransferBuffer;

/**
 * Hears what the processes wait for and do to their memory: one thread for the events, which must never wait for a
 * page, and a few that fetch pages. It also lets go of the spaces in which nothing is missing any more.
 */
final class FaultServer {
    private static final int POLL_BYTES = 8, READERS = 4;
    private static final long TIMEOUT_MS = 10; // until a space that is filled is noticed

    private final LazyMemory memory;
    private final Keeper keeper;
    private final Thread listener = Thread.ofPlatform().daemon().name("udckpt-lazy-events").unstarted(this::run);
    private final ExecutorService readers =
            Executors.newFixedThreadPool(READERS, Thread.ofPlatform().daemon().name("udckpt-lazy-fault-", 0).factory());
    private volatile boolean stopped;

    FaultServer(LazyMemory memory, Keeper keeper) {
        this.memory = memory;
        this.keeper = keeper;
    }

    void start() {
        listener.start();
    }

    private void run() {
        try {
            List<LazySpace> spaces;
            while (!stopped && !(spaces = memory.unfinished()).isEmpty()) {
                for (LazySpace ready : poll(spaces)) {
                    hear(ready);
                }
            }
        } catch (RuntimeException | Error failure) { // an Error too: the job would wait for ever for who is no more
            memory.fail(failure);
        }
    }

    private void hear(LazySpace space) {
        List<LazySpace> children = new ArrayList<>();
        List<UserfaultEvent> faults = space.events(keeper, children);
        children.forEach(memory::add);
        for (UserfaultEvent event : faults) {
            if (event instanceof UserfaultEvent.Fault fault && !stopped) {
                readers.execute(() -> serve(space, fault.address()));
            }
        }
    }

    private void serve(LazySpace space, long address) {
        try {
            space.serve(address, TransferBuffer.own());
        } catch (RuntimeException | Error failure) { // an Error too: the job would wait for ever for who is no more
            memory.fail(failure);
        }
    }

    /** struct pollfd (poll(2)). */
    private List<LazySpace> poll(List<LazySpace> spaces) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment list = arena.allocate((long) POLL_BYTES * spaces.size(), 8);
            for (int i = 0; i < spaces.size(); i++) {
                list.set(JAVA_INT, (long) POLL_BYTES * i, spaces.get(i).context.fd());
                list.set(JAVA_SHORT, (long) POLL_BYTES * i + 4, (short) POLLIN);
            }
            long n = Syscall.call(Syscall.POLL, list.address(), spaces.size(), TIMEOUT_MS);
            if (n != -LinuxError.EINTR) {
                LinuxError.check(n, "poll userfaultfds");
            }
            List<LazySpace> ready = new ArrayList<>();
            for (int i = 0; n > 0 && i < spaces.size(); i++) {
                if ((list.get(JAVA_SHORT, (long) POLL_BYTES * i + 6) & POLLIN) != 0) {
                    ready.add(spaces.get(i));
                }
            }
            return ready;
        }
    }

    /** Returns when no event is heard any more, and no fault that was heard is begun to be served. */
    void stopListening() {
        stopped = true;
        readers.shutdown();
        try {
            listener.join();
        } catch (InterruptedException asked) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns when no page is put in any more. */
    void stopReaders() {
        try {
            readers.awaitTermination(1, TimeUnit.MINUTES);
        } catch (InterruptedException asked) {
            Thread.currentThread().interrupt();
        }
    }
}
