package org.udckpt.process.files;

import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;

/**
 * One name that changes: what is there is put aside, and what the checkpoint has comes in its place. Nothing is
 * overwritten.
 */
abstract class Step {
    private static final int MOST_KEPT = 10_000;

    final Folders.Place place;
    private final String checkpoint;
    private String kept;
    private boolean placed;

    Step(Folders.Place place, String checkpoint) {
        this.place = place;
        this.checkpoint = checkpoint;
    }

    /** Does it; {@link #undo} also takes back a half of it. */
    final void swap() {
        if (place.stat() != null) {
            kept = aside();
        }
        put();
        placed = true;
    }

    private String aside() {
        for (int n = 1; n <= MOST_KEPT; n++) {
            String name = KeptName.of(place.name(), checkpoint, n);
            if (place.folder().rename(place.name(), name)) {
                return name;
            }
        }
        throw new FilesChanged(place.path() + " has " + MOST_KEPT
                + " copies that earlier restarts kept; remove some");
    }

    /** Makes the name, which is free. */
    abstract void put();

    /** Takes back what {@link #put} made. */
    abstract void take();

    final void undo() {
        if (placed) {
            takeIfThere();
            placed = false;
        }
        if (kept != null) {
            if (!place.folder().rename(kept, place.name())) {
                throw new FilesChanged(place.path() + " was created again by another program; its state before the "
                        + "restart is " + kept());
            }
            kept = null;
        }
    }

    private void takeIfThere() {
        try {
            take();
        } catch (LinuxError e) {
            if (e.errno() != LinuxError.ENOENT) { // the restored job has removed or renamed it
                throw e;
            }
        }
    }

    /** Where what was there is now; null: nothing was. */
    final String kept() {
        return kept == null ? null : place.folder().below(kept);
    }

    final void removeKept() {
        if (kept != null) {
            place.folder().removeTree(kept);
            kept = null;
        }
    }

    /** What was prepared and will not be used. */
    void discard() {}

    /** A file that has been written already, without a name or under one of its own. */
    static final class PutFile extends Step {
        private static final int CLOSED = -1;

        private int file;
        private String name;

        /** @param name null: it has none */
        PutFile(Folders.Place place, String checkpoint, int file, String name) {
            super(place, checkpoint);
            this.file = file;
            this.name = name;
        }

        @Override
        void put() {
            if (name == null) {
                place.folder().link(file, place.name());
            } else if (place.folder().rename(name, place.name())) {
                name = null;
            } else {
                throw new FilesChanged(place.path() + " was just created by another program; end that program");
            }
            close(); // the job may watch it, or want a lease on it, which nobody else may have open
        }

        private void close() {
            if (file != CLOSED) {
                Files.close(file);
                file = CLOSED;
            }
        }

        @Override
        void take() {
            place.folder().unlink(place.name());
        }

        @Override
        void discard() {
            close();
            if (name != null) {
                try {
                    place.folder().unlink(name);
                } catch (LinuxError gone) {
                    if (gone.errno() != LinuxError.ENOENT) {
                        throw gone;
                    }
                }
            }
        }
    }

    /** A symbolic link. */
    static final class PutSymbolicLink extends Step {
        private final String target;

        PutSymbolicLink(Folders.Place place, String checkpoint, String target) {
            super(place, checkpoint);
            this.target = target;
        }

        @Override
        void put() {
            place.folder().symbolicLink(target, place.name());
        }

        @Override
        void take() {
            place.folder().unlink(place.name());
        }
    }

    /** Another name of a file that is in its place by then. */
    static final class PutHardLink extends Step {
        private final Folders.Place of;

        PutHardLink(Folders.Place place, String checkpoint, Folders.Place of) {
            super(place, checkpoint);
            this.of = of;
        }

        @Override
        void put() {
            place.folder().link(of.folder(), of.name(), place.name());
        }

        @Override
        void take() {
            place.folder().unlink(place.name());
        }
    }

    /** What was made after the checkpoint goes away, and nothing comes. */
    static final class PutAside extends Step {
        PutAside(Folders.Place place, String checkpoint) {
            super(place, checkpoint);
        }

        @Override
        void put() {}

        @Override
        void take() {}
    }
}
