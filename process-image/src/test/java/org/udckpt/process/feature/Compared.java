package org.udckpt.process.feature;

import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import org.udckpt.picture.KernelsWord;
import org.udckpt.picture.Picture;

/**
 * What the kernel says of a feature program's processes in the stop of its checkpoint, and before their first
 * instruction after the restart.
 */
final class Compared {
    private final Feature feature;
    private Picture before;
    private final Path output;
    private Picture after;

    /** @param output the standard output of what starts it, and starts it again */
    Compared(Feature feature, Path output) {
        this.feature = feature;
        this.output = output;
    }

    private boolean launchers(String link) {
        return link.equals(output.toString());
    }

    void before(Collection<Integer> hostPids) {
        before = Picture.of(hostPids, this::launchers);
    }

    void after(Collection<Integer> hostPids) {
        after = Picture.of(hostPids, this::launchers);
    }

    /** @throws AssertionError with both sides of each line that is another one */
    void check() {
        List<String> differences =
                after == null ? List.of() : Picture.differences(before, after, KernelsWord.afterRestart());
        after = null;
        if (!differences.isEmpty()) {
            throw new AssertionError(feature.name() + ": a restart has changed what the kernel says:\n  "
                    + String.join("\n  ", differences));
        }
    }
}
