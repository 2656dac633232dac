package org.udckpt.process.capture;

import java.util.stream.Stream;
import org.udckpt.linux.Files;
import org.udckpt.process.kinds.base.OpenedByName;

/** What file memory is mapped of, by a process that is in a mount namespace of the job's own. */
final class MappedInNamespace {
    private MappedInNamespace() {}

    /** Whether its content comes with a file system of the job's own. */
    static boolean isOwn(TracedProcess process, Mapping mapping) {
        Found found = mapping.path().startsWith("[") ? null : find(process, mapping);
        Files.Stat stat = found == null ? null : found.stat;
        boolean own = found != null && process.ownsFileSystem(stat, found.through);
        if (own && stat.links() == 0) {
            return false;
        }
        if (stat != null && process.mountNamespace != null && !mapping.deleted() && isHere(process, mapping, own, stat)
                && !process.mountNamespace.fromHere(process, mapping.path())) {
            throw process.refuse("it has mapped " + mapping.path() + ", and since before it was in its mount namespace "
                    + "another file of that name, which cannot be checkpointed");
        }
        boolean placed = mapping.shared() && mapping.path().startsWith("/") && !MemoryObjects.sysv(mapping)
                && !mapping.path().startsWith("/memfd:") && !mapping.path().equals(MemoryObjects.ZERO_DEVICE);
        if (!own && stat != null && (!mapping.deleted() || placed)) {
            if (!mapping.deleted()) {
                OpenedByName.found(process, "a file that it has mapped", mapping.path(), stat);
            }
            if (placed && (mapping.writable() || mapping.deleted())
                    && !mapping.path().equals(process.outside(mapping.path()))) {
                throw process.refuse("it has mapped " + mapping.path() + " shared and writable, which is mounted from "
                        + process.outside(mapping.path()) + " in its mount namespace, and cannot be checkpointed");
            }
        }
        return own;
    }

    private static boolean isHere(TracedProcess process, Mapping mapping, boolean own, Files.Stat stat) {
        Files.Stat named = own ? null : Files.tryStat(process.mounts() + mapping.path());
        return own || named != null && named.isSame(stat);
    }

    /**
     * A file that is mapped.
     *
     * @param through a path of this process that leads to it
     */
    private record Found(Files.Stat stat, String through) {
        static Found at(String path) {
            Files.Stat stat = Files.tryStat(path);
            return stat == null ? null : new Found(stat, path);
        }
    }

    /** What is mapped; an ordinary user may only look under its name. Null: it has none. */
    private static Found find(TracedProcess process, Mapping mapping) {
        Found linked = Found.at(MemoryObjects.link(process, mapping));
        if (linked != null || mapping.deleted() || !mapping.path().startsWith("/")) {
            return linked;
        }
        Found there = Found.at(process.seen(mapping.path()));
        if (there != null && process.mountNamespace.isOfOverlay(mapping.device(), there.through)) {
            return there; // the number of its inode need not be the one that stat(2) tells
        }
        return Stream.of(there, Found.at(process.mountNamespace.startedWith(mapping.path())))
                .filter(found -> found != null && MemoryObjects.isOf(mapping, found.stat)).findFirst()
                .orElseThrow(() -> process.refuse("it has mapped " + mapping.path() + ", and something else or "
                        + "nothing is under this name now, so a restart would not find it"));
    }
}
