package org.udckpt.store;

import java.util.List;
import java.util.function.Consumer;
import org.udckpt.image.catalogue.Catalogue;

/**
 * The checkpoints beside the newest complete one: warns when an older checkpoint than the newest is used. Directories
 * without a manifest are not reported: they are being written, or never became a checkpoint.
 *
 * @param entries of one directory, or of all tiers
 */
record SkippedCheckpoints(List<Catalogue.Entry> entries) {
    /** @param taken complete. @param warn hears of each damaged one that is newer, or a copy of {@code taken} */
    void tell(Catalogue.Entry taken, Consumer<String> warn) {
        for (Catalogue.Entry entry : entries) {
            if (entry.state() == Catalogue.State.CORRUPT && entry.id() >= taken.id()) {
                boolean copy = entry.id() == taken.id();
                warn.accept(entry.name() + " is skipped" + (copy ? " in " + entry.directory().getParent() : "")
                        + ": " + entry.problem().getMessage() + "; "
                        + (copy ? "its copy in " + taken.directory().getParent() : taken.name()) + " is used instead");
            }
        }
    }
}
