package org.udckpt.store;

import java.util.List;
import java.util.function.Consumer;
import org.udckpt.image.catalogue.Catalogue;

/**
 * What there is where the newest complete checkpoint is asked for: who gets an older one than he may think is told.
 * Those without a manifest are no news: they are being written, or never came to be.
 *
 * @param entries of one directory, or of all tiers
 */
record PassedOver(List<Catalogue.Entry> entries) {
    /** @param taken complete. @param warn is told of each that is newer, or a copy of the same, and damaged */
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
