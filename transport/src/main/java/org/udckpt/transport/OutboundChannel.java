package org.udckpt.transport;

import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.apache.arrow.flight.FlightRuntimeException;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.udckpt.support.report.Messages;

/**
 * The way to one node for messages, or that for tables: a queue, and a virtual thread that ships what waits, one
 * shipment at a time, so that order is kept. A shipment is repeated under its number, over new connections after
 * growing backoffs, until it is taken or refused for good or the channel ends. The thread is there while there is
 * something to send or a connection: of a lead's tens of thousands of channels hardly any has one, and a thread that
 * waits keeps the stack of its deepest call.
 */
final class OutboundChannel {
    private static final SecureRandom INCARNATIONS = new SecureRandom();

    private final LinkContext context;
    private final int to;
    private final OutboundQueue queue;
    private final long incarnation = INCARNATIONS.nextLong();
    /** Null: nothing is to be sent. Its successor begins with what it has left. */
    private Thread shipping;
    private volatile InetSocketAddress address;
    private volatile boolean closed;
    private volatile Delivery delivery;
    private long sequence;
    private boolean outage;

    /** @param address null: not known yet */
    OutboundChannel(LinkContext context, int to, InetSocketAddress address) {
        this.context = context;
        this.to = to;
        this.address = address;
        queue = new OutboundQueue(context.limits().queueBytes());
    }

    /** After something was put into the queue. */
    private synchronized void attend() {
        if (shipping == null && !closed) {
            shipping = Thread.ofVirtual().name("link to node " + to).start(this::ship);
        }
    }

    /** The thread's last act. False: something has come, it has to go on. */
    private synchronized boolean retire() {
        if (queue.isEmpty()) {
            shipping = null;
        }
        return shipping == null;
    }

    private synchronized Thread shipping() {
        return shipping;
    }

    void send(byte[] message) {
        queue.offer(new OutboundItem.Message(message));
        attend();
    }

    CompletableFuture<Void> table(byte[] subject, VectorSchemaRoot table) throws InterruptedException {
        OutboundItem.Table item = OutboundItem.Table.of(subject, table);
        if (!queue.put(item)) {
            item.taken().completeExceptionally(new LinkClosedException(to));
        }
        attend();
        return item.taken();
    }

    /** The node is, or is now, there. */
    void reach(InetSocketAddress there) {
        if (there.equals(address)) {
            return;
        }
        address = there;
        Delivery old = delivery;
        if (old != null) {
            old.end(); // the call under way fails, and is made anew
        }
        LockSupport.unpark(shipping());
    }

    boolean awaitEmpty(long nanos) throws InterruptedException {
        return queue.awaitEmpty(nanos);
    }

    private void ship() {
        try {
            for (List<OutboundItem> shipment = next(); shipment != null; shipment = next()) {
                if (shipment.isEmpty()) {
                    discard();
                    return; // closed
                }
                sequence++;
                try {
                    ship(shipment);
                } catch (InterruptedException e) {
                    abandon(shipment);
                    throw e;
                }
            }
        } catch (InterruptedException e) {
            discard(); // end() wants it
        } catch (RuntimeException | Error e) {
            discard();
            throw e;
        }
    }

    /** Its connection is wanted for another node: it is closed if there is still nothing to send. */
    void makeRoom() {
        queue.wake();
    }

    /**
     * Where nothing comes for long the connection is closed, with all that belongs to it: a lead has tens of thousands
     * of peers to which it has said a word.
     *
     * @return empty: this end is closed; null: the thread has retired
     */
    private List<OutboundItem> next() throws InterruptedException {
        if (!queue.awaitItem(0) && !rest()) {
            discard();
            if (retire()) {
                return null; // and touches nothing any more: another thread may be there already
            }
        }
        return queue.take();
    }

    /** False: nothing came in that time, or the connection is wanted for another node. */
    private boolean rest() throws InterruptedException {
        try {
            return delivery != null && context.places().rest(this)
                    && queue.awaitItem(context.limits().idle().toNanos());
        } finally {
            context.places().resume(this);
        }
    }

    private void ship(List<OutboundItem> shipment) throws InterruptedException {
        Backoff pauses = new Backoff(context.limits().firstPause(), context.limits().longestPause(),
                ThreadLocalRandom.current());
        while (!closed) {
            try {
                if (attempt(shipment)) {
                    returned();
                    return;
                }
                outage("its address is not known");
            } catch (FlightRuntimeException e) {
                if (Delivery.isFinal(e)) {
                    refused(shipment, e);
                    return;
                }
                outage(e.getMessage());
                queue.nobodyThere(Delivery.isRefusedThere(e));
                discard();
            } catch (RuntimeException e) {
                // of a table that somebody closed, or ours: it must not end the way for what follows
                discard();
                refused(shipment, e);
                return;
            }
            LockSupport.parkNanos(pauses.next().toNanos());
        }
        abandon(shipment);
    }

    /** False: nobody has said yet where the node is. */
    private boolean attempt(List<OutboundItem> shipment) throws InterruptedException {
        if (address == null) {
            return false;
        }
        if (delivery == null) {
            connect();
        }
        if (shipment.getFirst() instanceof OutboundItem.Table table) {
            delivery.table(envelope(List.of(table.subject())), table.table());
            table.taken().complete(null);
        } else {
            delivery.messages(
                    envelope(shipment.stream().map(item -> ((OutboundItem.Message) item).content()).toList()));
        }
        return true;
    }

    private void connect() throws InterruptedException {
        context.places().take();
        try {
            delivery = new Delivery(context, address); // as of now: it may have been long
        } finally {
            if (delivery == null) {
                context.places().give();
            }
        }
    }

    private byte[] envelope(List<byte[]> parts) {
        return new Envelope(context.node(), incarnation, sequence, parts).encode();
    }

    private void outage(String why) {
        if (!outage && !closed) {
            Messages.debugTrace("node " + to + " cannot be reached", new LinkClosedException(to, why));
        }
        outage = true;
    }

    private void returned() {
        long lost = queue.takeLost();
        if (lost > 0) {
            Messages.warn("node " + to + " was unreachable or slow for so long that " + lost
                    + " messages to it were dropped");
        }
        outage = false;
        queue.nobodyThere(false);
    }

    private void refused(List<OutboundItem> shipment, RuntimeException why) {
        Messages.warn("node " + to + " did not receive " + (shipment.getFirst() instanceof OutboundItem.Table
                ? "a table" : shipment.size() + " messages") + ": " + why.getMessage());
        fail(shipment, why);
    }

    private void abandon(List<OutboundItem> parcels) {
        fail(parcels, new LinkClosedException(to));
    }

    private static void fail(List<OutboundItem> parcels, Exception why) {
        for (OutboundItem item : parcels) {
            if (item instanceof OutboundItem.Table table) {
                table.taken().completeExceptionally(why);
            }
        }
    }

    private void discard() {
        Delivery old = delivery;
        delivery = null;
        if (old != null) {
            old.close();
            context.places().give();
        }
    }

    /**
     * Ends a call that is under way; tables that were not taken fail, at the latest when {@link #join} returns. Returns
     * at once.
     */
    void end() {
        Thread last;
        synchronized (this) {
            closed = true;
            last = shipping;
        }
        abandon(queue.close());
        if (last != null) {
            last.interrupt();
        }
        Delivery current = delivery;
        if (current != null) {
            current.end();
        }
    }

    /** After {@link #end}: waits for it. */
    void join() throws InterruptedException {
        Thread last = shipping();
        if (last != null) {
            last.join();
        }
    }

    boolean hasEnded() {
        Thread last = shipping();
        return last == null || !last.isAlive();
    }
}
