package org.udckpt.process.restore;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.Region;
import org.udckpt.process.model.SharedMemory;

/**
 * Attachments of System V segments to one process (shmat(2)). Of one there may be several mappings, each with its own
 * protection, or some of its pages only (mprotect(2), munmap(2)): shmdt(2) takes all that came of one shmat(2).
 */
final class AttachedSegments {
    private static final int SHM_RDONLY = 010000, SHM_EXEC = 0100000;
    private static final int MREMAP_MAYMOVE = 1, MREMAP_FIXED = 2;
    private static final int RESERVED = 0x2 | 0x10 | 0x20 | 0x4000; // MAP_PRIVATE, _FIXED, _ANONYMOUS, _NORESERVE
    private static final int PROT_READ = 1, PROT_WRITE = 2, PROT_EXEC = 4;

    private final Tracee tracee;
    private final Map<Attachment, List<Region>> regions = new HashMap<>();
    private final Set<Attachment> done = new HashSet<>();

    /** @param at where its first byte is, or would be */
    private record Attachment(long segment, long at) {
        static Attachment of(Region region) {
            return new Attachment(region.backing(), region.start() - region.fileOffset());
        }
    }

    /** @param all of the process */
    AttachedSegments(Tracee tracee, List<Region> all) {
        this.tracee = tracee;
        for (Region region : all) {
            if (region.backing() != 0) {
                regions.computeIfAbsent(Attachment.of(region), _ -> new ArrayList<>()).add(region);
            }
        }
    }

    /** Maps this region, and, at the first of an attachment, the others of it. */
    void map(Region region, SharedMemory segment, Batch batch) {
        Attachment attachment = Attachment.of(region);
        if (!done.add(attachment)) {
            return;
        }
        List<Region> parts = regions.get(attachment);
        long bytes = segment.size() + 4095 & -4096L;
        int flags = flags(parts);
        if (region.fileOffset() == 0 && region.size() == bytes && protection(flags) == region.protection()) {
            batch.add(() -> what(region, segment), Syscall.SHMAT, segment.ipcId(), region.start(), flags);
            return;
        }
        batch.run();
        for (Region part : parts) { // or the kernel puts the whole where a part has to be
            tracee.call(what(part, segment), Syscall.MMAP, part.start(), part.size(), 0, RESERVED, -1, 0);
        }
        long whole = tracee.call(what(region, segment), Syscall.SHMAT, segment.ipcId(), 0, flags);
        for (Region part : parts) {
            if (part.protection() != protection(flags)) {
                tracee.call("protect what is to be at 0x%x of System V segment %d".formatted(part.start(),
                        segment.ipcId()), Syscall.MPROTECT, whole + part.fileOffset(), part.size(),
                        part.protection());
            }
            tracee.call("move a part of System V segment %d to 0x%x".formatted(segment.ipcId(), part.start()),
                    Syscall.MREMAP, whole + part.fileOffset(), part.size(), part.size(),
                    MREMAP_MAYMOVE | MREMAP_FIXED, part.start());
        }
        tracee.call("unmap the rest of System V segment " + segment.ipcId(), Syscall.MUNMAP, whole, bytes);
    }

    private static String what(Region region, SharedMemory segment) {
        return "attach System V segment %d at 0x%x".formatted(segment.ipcId(), region.start());
    }

    /** That one which each of them could have come from. */
    private static int flags(List<Region> parts) {
        boolean writable = parts.stream().anyMatch(part -> part.writable() || part.mayBeWritable());
        boolean executable = parts.stream().anyMatch(part -> part.permissions().charAt(2) == 'x');
        return (writable ? 0 : SHM_RDONLY) | (executable ? SHM_EXEC : 0);
    }

    private static int protection(int flags) {
        return PROT_READ | ((flags & SHM_RDONLY) == 0 ? PROT_WRITE : 0) | ((flags & SHM_EXEC) != 0 ? PROT_EXEC : 0);
    }
}
