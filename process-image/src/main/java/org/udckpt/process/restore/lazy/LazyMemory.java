package org.udckpt.process.restore.lazy;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.udckpt.linux.TransferBuffer;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.Region;

/** All address spaces of a job that are being filled while it runs. */
public final class LazyMemory implements Filling {
    private final Keeper keeper;
    private final FaultServer faults;
    private final Prefetch prefetch = new Prefetch(this);
    private final Map<Integer, LazySpace> first = new HashMap<>();
    private final List<LazySpace> roots = new ArrayList<>();
    private final List<LazySpace> children = new ArrayList<>();
    private final CompletableFuture<Void> filled = new CompletableFuture<>();
    private long bytes;
    private boolean closed;

    /** @param socket the shepherd's {@code lazy} one; it is taken over */
    public LazyMemory(int socket) {
        this.keeper = new Keeper(socket);
        this.faults = new FaultServer(this, keeper);
    }

    /**
     * A process whose mappings are there, empty. Nothing runs in it yet.
     *
     * @param context of its memory, agreed upon; taken over
     */
    public void add(int hostPid, Userfault context, LazyPlan plan, MemorySource source) {
        int key = keeper.hold(context);
        for (Region region : plan.regions()) {
            context.register(region.start(), region.end());
        }
        LazySpace space = new LazySpace(context, key, hostPid, plan.missing(source.pieces()), source);
        synchronized (this) {
            first.put(hostPid, space);
            roots.add(space);
            bytes += space.missing.bytes();
        }
    }

    /** Has these pages put in before it returns. Any thread. */
    public void need(int hostPid, long start, long end) {
        LazySpace space;
        synchronized (this) {
            space = first.get(hostPid);
        }
        Missing.Part part;
        for (long at = start; space != null && (part = space.missing.next(at)) != null && part.start() < end;
                at = part.end()) {
            space.fill(part, TransferBuffer.own());
        }
    }

    /** Pages come when they are asked for from now on. */
    public void serve() {
        faults.start();
    }

    /** And all others, asked for or not. */
    public void fetchRest() {
        prefetch.start();
    }

    synchronized void add(LazySpace child) {
        children.add(child);
    }

    /** The memory to be fetched: the roots' as long as there are any. */
    synchronized List<LazySpace> spaces() {
        return List.copyOf(roots.isEmpty() ? children : roots);
    }

    /**
     * All of them, but for those that this call lets go of, since all is in. Only the thread of the events may call it.
     */
    List<LazySpace> unfinished() {
        List<LazySpace> ended = new ArrayList<>();
        List<LazySpace> left;
        synchronized (this) {
            for (List<LazySpace> list : List.of(roots, children)) {
                list.stream().filter(LazySpace::done).forEach(ended::add);
                list.removeIf(ended::contains);
            }
            left = spacesLeft();
        }
        for (LazySpace space : ended) {
            space.release(keeper);
        }
        if (left.isEmpty() && !filled.isDone()) {
            filled.complete(null);
        }
        return left;
    }

    void fail(Throwable failure) {
        filled.completeExceptionally(failure);
    }

    @Override
    public synchronized long bytes() {
        return bytes;
    }

    @Override
    public synchronized long missing() {
        return roots.stream().mapToLong(space -> space.missing.bytes()).sum()
                + children.stream().mapToLong(space -> space.missing.bytes()).sum();
    }

    @Override
    public CompletableFuture<Void> filled() {
        return filled;
    }

    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        faults.stopListening();
        boolean missed = !filled.isDone() || filled.isCompletedExceptionally();
        if (missed) {
            // Before anybody is waited for: while an event of a living process is unread no page goes in, and its
            // filling would not end.
            keeper.abandon();
            spacesLeft().forEach(LazySpace::giveUp);
        }
        faults.stopReaders();
        prefetch.stop();
        if (missed) {
            spacesLeft().forEach(space -> space.context.close());
        }
        keeper.close();
    }

    private synchronized List<LazySpace> spacesLeft() {
        List<LazySpace> left = new ArrayList<>(roots);
        left.addAll(children);
        return left;
    }
}
