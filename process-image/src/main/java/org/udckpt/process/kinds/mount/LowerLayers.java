package org.udckpt.process.kinds.mount;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.Files;
import org.udckpt.linux.Folder;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;

/**
 * What directories that lie on each other have together, as an overlay shows it that has them as its lower layers
 * (Documentation/filesystems/overlayfs.rst: directories are merged, what is above hides the rest).
 */
final class LowerLayers {
    private static final List<String> OPAQUE = List.of("trusted.overlay.opaque", "user.overlay.opaque");

    /** What is under a name. Null where an upper one of them says that nothing is there. */
    static final class Found {
        private final Files.Stat stat;
        /** Of a directory: those that are one in the overlay, uppermost first. */
        private final List<String> directories = new ArrayList<>();
        private boolean closed;

        private Found(Files.Stat stat) {
            this.stat = stat;
        }

        /** By name, what is in it. */
        Map<String, Found> names() {
            return LowerLayers.names(directories);
        }

        /**
         * Whether an overlay shows this, and nothing of a layer above: that has got another time of change. A clock is
         * coarse; but a directory that is of two layers has no number of links that means something.
         */
        boolean is(Files.Stat shown) {
            boolean one = stat.type() != Files.Stat.DIRECTORY
                    || directories.size() == 1 && stat.links() > 1 && stat.links() == shown.links();
            return one && stat.mode() == shown.mode() && stat.changed() == shown.changed()
                    && stat.modified() == shown.modified() && stat.uid() == shown.uid() && stat.gid() == shown.gid()
                    && stat.rawDevice() == shown.rawDevice()
                    && (stat.size() == shown.size() || stat.type() == Files.Stat.DIRECTORY);
        }
    }

    private LowerLayers() {}

    /** By name, what is in directories that lie on each other. @param directories paths of this process */
    static Map<String, Found> names(List<String> directories) {
        Map<String, Found> all = new HashMap<>();
        for (String path : directories) {
            try (Folder folder = Folder.of(path, Files.open(path, Syscall.O_RDONLY | Syscall.O_DIRECTORY))) {
                for (String name : folder.names()) {
                    add(all, folder, path + "/" + name, name);
                }
            }
        }
        all.values().removeIf(found -> found.stat == null);
        return all;
    }

    private static void add(Map<String, Found> all, Folder folder, String path, String name) {
        Found known = all.get(name);
        if (known != null && known.closed) {
            return;
        }
        Files.Stat stat = folder.stat(name);
        boolean directory = stat != null && stat.type() == Files.Stat.DIRECTORY;
        if (known == null) {
            known = new Found(stat == null || isRemoved(stat) ? null : stat);
            all.put(name, known);
        }
        if (directory) {
            known.directories.add(path);
        }
        known.closed = !directory || isOpaque(path);
    }

    /** Whether it stands for nothing, in a layer. */
    static boolean isRemoved(Files.Stat stat) {
        return stat.type() == Files.Stat.CHARACTER && stat.rawDevice() == 0;
    }

    private static boolean isOpaque(String directory) {
        for (String name : OPAQUE) {
            long size = Syscall.call(Syscall.GETXATTR, Scratch.string(directory), Scratch.second(name),
                    Scratch.data().address(), 1);
            if (size == 1 && Scratch.data().get(JAVA_BYTE, 0) == 'y') {
                return true;
            }
            if (size < 0 && size != -LinuxError.ENODATA && size != -LinuxError.EOPNOTSUPP
                    && size != -LinuxError.EPERM && size != -LinuxError.EACCES) { // who mounted it may not, either
                LinuxError.check(size, "attribute " + name + " of " + directory);
            }
        }
        return false;
    }
}
