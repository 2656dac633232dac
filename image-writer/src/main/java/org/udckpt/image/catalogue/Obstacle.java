package org.udckpt.image.catalogue;

import java.util.List;
import org.udckpt.image.ImageError;

/** Why a checkpoint cannot be removed, or stays where others go. */
public sealed interface Obstacle {
    /** Newer checkpoints that stay hold only what changed since it. @param newer at least one, oldest first */
    record Needed(List<Catalogue.Entry> newer) implements Obstacle {
        public Needed {
            newer = List.copyOf(newer);
        }
    }

    /** Its writer lives, or cannot be seen from this machine. @param alive false: it cannot be seen */
    record BeingWritten(boolean alive) implements Obstacle {}

    /** A process reads it or restarts from it, or a running job would go back to it. */
    record Held() implements Obstacle {}

    /** A newer checkpoint cannot be read here, but may be whole, and may be based on it. */
    record Unreadable(Catalogue.Entry newer, ImageError why) implements Obstacle {}

    /** The checkpoint is a symbolic link. */
    record Link() implements Obstacle {}
}
