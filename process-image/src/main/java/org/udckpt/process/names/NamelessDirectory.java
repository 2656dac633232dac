package org.udckpt.process.names;

import org.udckpt.linux.Files;
import org.udckpt.linux.Folder;

/** A directory that was made to be opened, and that has its name until this is closed. */
public final class NamelessDirectory implements AutoCloseable {
    private final Folder parent;
    /** Where it was prepared, and stays where its name is taken. */
    private final StagingDirectory staging;
    private final String name;
    private final Files.Stat made;
    private boolean placed;

    /** Makes it, in a place that nobody else can reach. @param parent is closed with this */
    NamelessDirectory(Folder parent, String name) {
        this.parent = parent;
        this.staging = StagingDirectory.in(parent);
        this.name = name;
        staging.folder().makeDirectory(name, 0700);
        this.made = staging.folder().stat(name);
    }

    Folder prepared() {
        return staging.folder();
    }

    /** Gives it its name in the parent, so that ".." leads there; not where that is taken. */
    void place() {
        placed = staging.folder().move(name, parent, name);
    }

    /** Opened as a way, to make others in it. */
    Folder hold() {
        return (placed ? parent : staging.folder()).holdSub(name);
    }

    @Override
    public void close() {
        try (parent; staging) {
            Files.Stat now = placed ? parent.stat(name) : null;
            if (now != null && now.isSame(made)) {
                parent.removeDirectory(name);
            }
        }
    }
}
