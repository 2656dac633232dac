package org.udckpt.bench.scale;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import org.udckpt.coordination.protocol.Op;

/** What goes wrong in one run, drawn from its seed. */
final class FaultPlan implements Faults {
    enum Kind {
        KILL, PAUSE, PARTITION, FAIL, HANG
    }

    /**
     * One thing that goes wrong.
     *
     * @param trigger the phase whose beginning at {@code witness} brings it about; null: {@code delay} after the run's
     *     begin
     * @param checkpoint the run's first, second ... whose phase it is
     * @param delay and then so many nanoseconds
     * @param node to which it happens; for PARTITION one of those that are cut off
     * @param lasts nanoseconds
     */
    record Fault(Kind kind, Op trigger, int checkpoint, int witness, long delay, int node, long lasts) {}

    private final Random random;
    private final List<Fault> faults = new ArrayList<>();
    private final double loss;
    private final double twice;
    private long jitter;
    private final long drawn;
    private final double cutOff;
    private BitSet island = new BitSet();
    private long islandUntil;

    FaultPlan(Random random, int nodes, long lease, long span) {
        this.random = random;
        loss = pick(0, 0, 0.01, 0.05);
        twice = pick(0, 0, 0.05);
        jitter = (long) pick(0, 0, lease / 100, lease / 8);
        drawn = jitter;
        cutOff = random.nextDouble();
        int count = random.nextInt(4);
        for (int i = 0; i < count; i++) {
            Kind kind = Kind.values()[random.nextInt(Kind.values().length)];
            Op trigger = random.nextInt(4) == 0 ? null : Op.values()[random.nextInt(Op.OPEN.ordinal() + 1)];
            long delay =
                    trigger == null ? random.nextLong(span) : random.nextInt(3) == 0 ? 0 : random.nextLong(lease / 20);
            int node = random.nextInt(4) == 0 ? 0 : random.nextInt(nodes);
            faults.add(new Fault(kind, trigger, 1 + random.nextInt(3), random.nextInt(nodes), delay, node,
                    random.nextLong(4 * lease)));
        }
    }

    /** Whether messages are lost also between nodes that live and are not cut off. */
    boolean loses() {
        return loss > 0;
    }

    /** From now on messages come at once. What happens to nodes is over too, as its run sees to. */
    void end() {
        jitter = 0;
    }

    List<Fault> faults() {
        return faults;
    }

    /** Cuts off the node and some others until then. */
    void partition(int node, int nodes, long until) {
        island = new BitSet(nodes);
        island.set(node);
        for (int other = 0; other < nodes; other++) {
            if (random.nextDouble() < cutOff) {
                island.set(other);
            }
        }
        islandUntil = until;
    }

    @Override
    public long[] delays(int from, int to, long now) {
        if (now < islandUntil && island.get(from) != island.get(to) || random.nextDouble() < loss) {
            return new long[0];
        }
        return random.nextDouble() < twice ? new long[]{delay(), delay()} : new long[]{delay()};
    }

    private long delay() {
        return jitter == 0 ? 0 : random.nextLong(jitter);
    }

    private double pick(double... values) {
        return values[random.nextInt(values.length)];
    }

    @Override
    public String toString() {
        return faults + ", messages lost " + loss + ", doubled " + twice + ", up to " + drawn / 1000 + " us late";
    }
}
