package org.udckpt.process.capture;

import java.util.stream.Stream;
import org.udckpt.linux.Files;
import org.udckpt.process.kinds.base.OpenedByName;

/** What file memory is mapped of, by a process that is in a mount namespace of the job's own. */
final class MappedInNamespace {
    private MappedInNamespace() {}

    /** Whether its content comes with a file system of the job's own. */
    static boolean isOwn(TracedProcess process, Mapping mapping) {
        Files.Stat stat = mapping.path().startsWith("[") ? null : stat(process, mapping);
        boolean own = stat != null && process.ownsFileSystem(stat, through(process, mapping));
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

    /** What is mapped; an ordinary user may only look under its name. */
    private static Files.Stat stat(TracedProcess process, Mapping mapping) {
        Files.Stat stat = Files.tryStat(MemoryObjects.link(process, mapping));
        if (stat != null || mapping.deleted() || !mapping.path().startsWith("/")) {
            return stat;
        }
        String seen = process.seen(mapping.path());
        Files.Stat there = Files.tryStat(seen);
        if (there != null && process.mountNamespace.isOfOverlay(mapping.device(), seen)) {
            return there; // the number of its inode need not be the one that stat(2) tells
        }
        return Stream.of(there, Files.tryStat(process.mountNamespace.startedWith(mapping.path())))
                .filter(found -> found != null && MemoryObjects.isOf(mapping, found)).findFirst()
                .orElseThrow(() -> process.refuse("it has mapped " + mapping.path() + ", and something else or "
                        + "nothing is under this name now, so a restart would not find it"));
    }

    /** What leads to it. */
    private static String through(TracedProcess process, Mapping mapping) {
        String link = MemoryObjects.link(process, mapping);
        return Files.tryStat(link) != null ? link : process.seen(mapping.path());
    }
}
