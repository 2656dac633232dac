package org.udckpt.process.model;

import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;

/**
 * How many numbers of descriptors a restart needs below the limit of open files: what is counted when a checkpoint is
 * taken, and again when it is restored.
 *
 * @param used by any process of the job; a child inherits from its parent what keeps them free
 * @param needed how many more, for a while
 */
public record DescriptorNumbers(NavigableSet<Integer> used, int needed) {
    /** The launcher's three streams, and what is open for the moment only. */
    private static final int SPARE = 16;

    /** Terminals are made together, up to the highest. */
    public static DescriptorNumbers of(List<Descriptor> descriptors, List<KernelObject> objects,
            List<TerminalObject> terminals) {
        NavigableSet<Integer> used = new TreeSet<>();
        descriptors.forEach(descriptor -> used.add(descriptor.fd()));
        int needed = SPARE + terminals.size();
        for (KernelObject object : objects) {
            if (object.number() >= 0) {
                used.add(object.number());
            }
            if (object.openForAWhile()) {
                needed++;
            }
            needed += object.spare();
        }
        needed += terminals.stream().filter(TerminalObject.Terminal.class::isInstance)
                .mapToInt(one -> ((TerminalObject.Terminal) one).number() + 1).max().orElse(0);
        return new DescriptorNumbers(used, needed);
    }

    /** The limit with which it can surely be restored. */
    public long enough() {
        return Math.max(used.isEmpty() ? 0 : used.last() + 1, used.size() + needed);
    }

    /** Null: there is room; else what there is not, without its subject. */
    public String refusal(long limit) {
        return Long.compareUnsigned(limit, enough()) >= 0 ? null
                : "has " + used.size() + " descriptors, up to number " + used.last() + ", and a restart needs " + needed
                        + " more for a while, but the hard limit of open files is " + Long.toUnsignedString(limit)
                        + ": raise it to " + enough() + " (ulimit -Hn), or close some";
    }
}
