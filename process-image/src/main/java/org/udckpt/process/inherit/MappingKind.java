package org.udckpt.process.inherit;

import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;
import org.udckpt.process.model.Region;

/**
 * What a private mapping has from its beginning on, and passes on with fork(2): a child's can be its parent's only
 * where both are of one kind.
 *
 * @param path of the mapped file; "" of anonymous memory
 * @param fileBias what is to be added to an address for its offset in the file
 * @param flags of smaps' VmFlags, those that are given before the memory has contents
 */
public record MappingKind(String path, long fileBias, String flags) {
    private static final Set<String> FIRST = Set.of("nr", "hg", "nh", "dc", "sr", "rr");
    /**
     * Locked, growing down, not or as zeros in children, huge TLB pages, droppable, joined by content (KSM): not what a
     * fork shares, or not by a plain mapping.
     */
    private static final Set<String> OTHERS = Set.of("lo", "lf", "gd", "dd", "wf", "ht", "dp", "mg", "ss");

    /** Null: of such a mapping nothing is inherited. */
    public static MappingKind of(Region region) {
        boolean file = region.path().startsWith("/");
        boolean named = region.path().isEmpty() || region.path().equals("[heap]") || region.path().startsWith("[anon:");
        Set<String> flags = Set.copyOf(Arrays.asList(region.vmFlags().split(" ")));
        if (region.shared() || region.backing() != 0 || !file && !named || region.vmFlags().isEmpty()
                || flags.stream().anyMatch(OTHERS::contains)) {
            return null;
        }
        String first = flags.stream().filter(FIRST::contains).sorted().collect(Collectors.joining(" "));
        return file ? new MappingKind(region.path(), region.fileOffset() - region.start(), first)
                : new MappingKind("", 0, first);
    }

    public boolean file() {
        return !path.isEmpty();
    }

    public boolean has(String flag) {
        return (" " + flags + " ").contains(" " + flag + " ");
    }
}
