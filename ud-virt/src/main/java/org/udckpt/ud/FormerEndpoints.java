package org.udckpt.ud;

import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import org.udckpt.address.Endpoint;
import org.udckpt.address.TranslationTable;

/**
 * Queue pairs that are gone. What they sent last may still wait in a receiver's socket, which takes only what endpoints
 * in the translation table have sent: so they stay there for a while, and meanwhile their addresses are kept from
 * others, who could speak in their names. Thread-safe.
 */
final class FormerEndpoints implements AutoCloseable {
    private static final Duration WHILE = Duration.ofMinutes(1);
    /** A quarter of the numbers that a host's device has to hand out. */
    private static final int MOST = 1024;
    /** A job of many short processes leaves ever more of these, which take no place of those just destroyed. */
    private static final int MOST_ENDED = MOST / 2;

    private record Former(Endpoint endpoint, Closeable kept, long since) {}

    private final TranslationTable table;
    private final PortKeeper keeper;
    private final Queue<Former> destroyed = new ArrayDeque<>();
    private final Queue<Former> ended = new ArrayDeque<>();
    private boolean closed;

    FormerEndpoints(TranslationTable table, PortKeeper keeper) {
        this.table = table;
        this.keeper = keeper;
    }

    /** Its process has destroyed it. */
    synchronized void destroyed(Endpoint endpoint) {
        if (closed || endpoint.real() == null) {
            table.remove(endpoint.virtual());
            return;
        }
        long now = System.nanoTime();
        while (!destroyed.isEmpty() && now - destroyed.element().since() > WHILE.toNanos()) {
            forget(destroyed.remove());
        }
        makeRoom();
        try {
            destroyed.add(new Former(endpoint, keeper.keep(endpoint.real()), now));
        } catch (IOException taken) {
            remove(endpoint); // whose it is now is not known: a new queue pair of the job says so itself
        }
    }

    /**
     * Its process has ended, and has not destroyed it: the job may go on for long, and its number stays the process's
     * until another one gets that, or many have ended since.
     */
    synchronized void ended(Endpoint endpoint) {
        if (closed) {
            return;
        }
        if (ended.size() >= MOST_ENDED) {
            forget(ended.remove());
        }
        makeRoom();
        try {
            ended.add(new Former(endpoint, keeper.keep(endpoint.real()), System.nanoTime()));
        } catch (IOException inUse) {
            // The process has lost its agent only, and has the address itself.
        }
    }

    /** For one more: whatever has been gone the longest is forgotten. */
    private void makeRoom() {
        if (destroyed.size() + ended.size() < MOST) {
            return;
        }
        boolean endedFirst = destroyed.isEmpty()
                || !ended.isEmpty() && ended.element().since() - destroyed.element().since() < 0;
        forget((endedFirst ? ended : destroyed).remove());
    }

    private void forget(Former former) {
        remove(former.endpoint());
        giveBack(former);
    }

    private void remove(Endpoint endpoint) {
        table.byVirtual(endpoint.virtual().lid(), endpoint.virtual().qpn())
                .filter(now -> now.real().key() == endpoint.real().key()).ifPresent(now -> table.remove(now.virtual()));
    }

    private static void giveBack(Former former) {
        try {
            former.kept().close();
        } catch (IOException e) {
            System.err.println("udckpt: releasing the address of a former queue pair, " + former.endpoint().real()
                    + ": " + e.getMessage());
        }
    }

    @Override
    public synchronized void close() {
        destroyed.forEach(FormerEndpoints::giveBack);
        ended.forEach(FormerEndpoints::giveBack);
        destroyed.clear();
        ended.clear();
        closed = true;
    }
}
