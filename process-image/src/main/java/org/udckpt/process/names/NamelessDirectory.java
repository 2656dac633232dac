package org.udckpt.process.names;

import org.udckpt.linux.Files;
import org.udckpt.linux.Folder;

/** A directory that was made to be opened, and that has its name until this is closed. */
public final class NamelessDirectory implements AutoCloseable {
    private final Folder parent;
    /** Where it was prepared, and stays where its name is taken. */
    private final StagingDirectory staging;
    private final String name;
    private Files.Stat made;
    private boolean placed;

    private NamelessDirectory(Folder parent, StagingDirectory staging, String name) {
        this.parent = parent;
        this.staging = staging;
        this.name = name;
    }

    /** Makes it, in a place that nobody else can reach. @param parent is closed with it, or when it cannot be made */
    static NamelessDirectory in(Folder parent, String name) {
        NamelessDirectory directory;
        try {
            directory = new NamelessDirectory(parent, StagingDirectory.in(parent), name);
        } catch (RuntimeException | Error e) {
            parent.close();
            throw e;
        }
        try {
            Folder staged = directory.prepared();
            staged.makeDirectory(name, 0700);
            directory.made = staged.stat(name);
            return directory;
        } catch (RuntimeException | Error e) {
            directory.close();
            throw e;
        }
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
