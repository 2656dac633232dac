package org.udckpt.lifecycle.lead;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.udckpt.cluster.ControlMessage;
import org.udckpt.cluster.Unit;
import org.udckpt.image.ImageNames;
import org.udckpt.image.Manifest;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.catalogue.CheckpointCopy;
import org.udckpt.image.manifest.HostParts;
import org.udckpt.lifecycle.job.JobStorage;
import org.udckpt.store.tiers.PartHosts;

/**
 * The units' shares of the flush, as the lead has them: asks all to copy their parts of a checkpoint, each from the
 * fast tier that its host has for itself, and hears what came of it. Thread-safe.
 */
public final class UnitCopies implements PartHosts {
    private static final long LOOK_MS = 100;
    private static final long ENDING_NS = TimeUnit.SECONDS.toNanos(30);

    private final List<Unit> units;
    private final Optional<HostParts> own;
    /** Units of the round that have not said how it ended. */
    private final BitSet waiting = new BitSet();
    private Consumer<ControlMessage.ToUnits> toAll;
    private String gone;
    private int round;
    private String failure;

    /** @param own where the hosts of this job have its parts; empty: nowhere, or what they have may not be removed */
    public UnitCopies(List<Unit> units, Optional<HostParts> own) {
        this.units = List.copyOf(units);
        this.own = own;
    }

    /** The agents are there. @param all passes a note to all of them */
    synchronized void open(Consumer<ControlMessage.ToUnits> all) {
        toAll = all;
        notifyAll();
    }

    /** No node can be asked any more. @param why for people; the first one counts */
    public synchronized void close(String why) {
        gone = gone == null ? why : gone;
        notifyAll();
    }

    /** A unit has ended with its copy; the message says what went wrong, if anything. */
    synchronized void copied(int unit, ControlMessage.Copied message) {
        if (message.round() == round && waiting.get(unit)) {
            waiting.clear(unit);
            if (!message.failure().isEmpty() && failure == null) {
                failure = units.get(unit).ranks() + " (host " + units.get(unit).host() + "): " + message.failure();
            }
            notifyAll();
        }
    }

    @Override
    public synchronized void copy(CheckpointCopy.Order order, CheckpointCopy.Progress done) throws IOException {
        Manifest manifest = order.manifest();
        if (manifest.nodes().size() != units.size()) {
            throw new IOException(
                    manifest.nodes().size() + " nodes have parts of it, and this job has " + units.size() + " units");
        }
        Map<Integer, Long> bytes =
                units.stream().collect(Collectors.toMap(units::indexOf, unit -> bytes(manifest, units.indexOf(unit))));
        failure = null;
        goOn(order);
        while (toAll == null) {
            look();
            goOn(order);
        }
        round++;
        waiting.set(0, units.size());
        toAll.accept(new ControlMessage.Copy(round, order.parts(), order.copy().toString()));
        try {
            while (!waiting.isEmpty()) {
                goOn(order);
                look();
                done.copied(2 * bytes.entrySet().stream().filter(unit -> !waiting.get(unit.getKey()))
                        .mapToLong(Map.Entry::getValue).sum(), 2 * manifest.storedBytes());
            }
            goOn(order);
        } finally {
            end();
        }
    }

    private static long bytes(Manifest manifest, int unit) {
        return manifest.files().stream().filter(file -> file.name().startsWith(ImageNames.node(unit)))
                .mapToLong(Manifest.FileEntry::length).sum();
    }

    private void goOn(CheckpointCopy.Order order) throws IOException {
        if (failure != null || gone != null) {
            throw new IOException(failure != null ? failure : gone);
        }
        if (order.givenUp().getAsBoolean()) {
            throw new CancellationException("the copy was abandoned");
        }
    }

    private void look() throws IOException {
        try {
            wait(LOOK_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while hosts copied their parts");
        }
    }

    /** No node writes to the copy any more: the caller that began it may remove it. */
    private void end() throws IOException {
        if (waiting.isEmpty()) {
            return;
        }
        toAll.accept(new ControlMessage.NoCopy(round));
        long until = System.nanoTime() + ENDING_NS;
        while (!waiting.isEmpty() && gone == null && System.nanoTime() < until) {
            look();
        }
        waiting.clear();
    }

    @Override
    public Optional<HostParts> own() {
        return own;
    }

    @Override
    public boolean owns(Catalogue.Entry complete) {
        return own.isEmpty() || JobStorage.isOf(complete, own.get().directory().getFileName().toString());
    }

    @Override
    public synchronized void stay(long newest, Set<Long> checkpoints) {
        if (own.isPresent() && toAll != null && gone == null) {
            toAll.accept(new ControlMessage.Stay(own.get(), newest, checkpoints));
        }
    }
}
