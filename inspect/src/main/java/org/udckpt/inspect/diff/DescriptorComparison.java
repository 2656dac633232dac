package org.udckpt.inspect.diff;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.udckpt.inspect.view.KernelObjects;
import org.udckpt.inspect.view.KernelObjects.Named;
import org.udckpt.process.model.Descriptor;
import org.udckpt.process.model.ProcessState;
import org.udckpt.store.OpenNode;

/**
 * Compares what a process's descriptors name. The ids of kernel objects are new in each checkpoint: kind and name tell
 * them apart.
 */
final class DescriptorComparison {
    private final OpenNode older;
    private final OpenNode newer;
    private final KernelObjects olderObjects;
    private final KernelObjects newerObjects;

    DescriptorComparison(OpenNode older, OpenNode newer) {
        this.older = older;
        this.newer = newer;
        this.olderObjects = new KernelObjects(older.image());
        this.newerObjects = new KernelObjects(newer.image());
    }

    /** By number. */
    List<DescriptorChange> changes(ProcessState was, ProcessState is) {
        Map<Integer, Named> before = open(older, was, olderObjects);
        Map<Integer, Named> after = open(newer, is, newerObjects);
        Set<Integer> numbers = new TreeSet<>(before.keySet());
        numbers.addAll(after.keySet());
        List<DescriptorChange> changes = new ArrayList<>();
        for (int fd : numbers) {
            DescriptorChange change = change(fd, before.get(fd), after.get(fd));
            if (change != null) {
                changes.add(change);
            }
        }
        return changes;
    }

    private static DescriptorChange change(int fd, Named was, Named is) {
        if (was == null) {
            return new DescriptorChange(DescriptorChange.Change.OPENED, fd, null, is);
        } else if (is == null) {
            return new DescriptorChange(DescriptorChange.Change.CLOSED, fd, was, null);
        } else if (!was.same(is)) {
            return new DescriptorChange(DescriptorChange.Change.REPLACED, fd, was, is);
        }
        return was.position() == is.position() ? null
                : new DescriptorChange(DescriptorChange.Change.MOVED, fd, was, is);
    }

    private static Map<Integer, Named> open(OpenNode node, ProcessState process, KernelObjects objects) {
        Map<Integer, Named> open = new TreeMap<>();
        for (Descriptor descriptor : node.image().descriptors()) {
            if (descriptor.pid() == process.pid()) {
                open.put(descriptor.fd(), objects.get(descriptor.object()));
            }
        }
        return open;
    }
}
