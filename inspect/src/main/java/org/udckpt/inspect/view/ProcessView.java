package org.udckpt.inspect.view;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.udckpt.process.model.AttributeKind;
import org.udckpt.process.model.Descriptor;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.SharedTables;
import org.udckpt.process.model.ThreadState;
import org.udckpt.store.OpenNode;

/**
 * A process with all that is its own.
 *
 * @param node where it is
 * @param objects of that node, which its descriptors name
 */
public record ProcessView(OpenNode node, ProcessState state, List<ThreadState> threads, List<RegionView> regions,
        List<Descriptor> descriptors, KernelObjects objects) {
    public long stored() {
        return regions.stream().mapToLong(RegionView::stored).sum();
    }

    /** The process with whose memory it works (clone(2), CLONE_VM); its own pid: it has its own. */
    public int memoryOf() {
        return SharedTables.of(node.image(), AttributeKind.SHARED_MEMORY).first(state.pid());
    }

    /** Bytes that other processes have in common with it: they are in the image once. */
    public long common() {
        return regions.stream().mapToLong(RegionView::common).sum();
    }

    /** The mappings of which the image holds most. */
    public List<RegionView> largest(int count) {
        return regions.stream().filter(view -> view.stored() > 0)
                .sorted(Comparator.comparingLong(RegionView::stored).reversed()).limit(count).toList();
    }

    /** How many descriptors name an object of which kind. */
    public Map<String, Integer> descriptorKinds() {
        Map<String, Integer> kinds = new TreeMap<>();
        descriptors.forEach(descriptor -> kinds.merge(objects.get(descriptor.object()).kind(), 1, Integer::sum));
        return kinds;
    }
}
