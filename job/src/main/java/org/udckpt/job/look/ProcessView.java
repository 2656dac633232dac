package org.udckpt.job.look;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.udckpt.process.model.Descriptor;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.ThreadState;

/** A process with all that is its own. */
public record ProcessView(ProcessState state, List<ThreadState> threads, List<RegionView> regions, List<Descriptor> descriptors) {
    public long stored() {
        return regions.stream().mapToLong(RegionView::stored).sum();
    }

    /** The mappings of which the image holds most. */
    public List<RegionView> largest(int count) {
        return regions.stream().filter(view -> view.stored() > 0).sorted(Comparator.comparingLong(RegionView::stored).reversed()).limit(count).toList();
    }

    /** How many descriptors name an object of which kind. */
    public Map<String, Integer> descriptorKinds(KernelObjects objects) {
        Map<String, Integer> kinds = new TreeMap<>();
        descriptors.forEach(descriptor -> kinds.merge(objects.get(descriptor.object()).kind(), 1, Integer::sum));
        return kinds;
    }
}
