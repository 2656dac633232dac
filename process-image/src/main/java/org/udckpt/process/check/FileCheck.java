package org.udckpt.process.check;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.udckpt.process.files.PathPattern;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.JobFile;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.KernelObject;
import org.udckpt.process.model.MappedFile;
import org.udckpt.process.model.MemoryKind;
import org.udckpt.process.model.PacketSocket;
import org.udckpt.process.model.RowCheck;
import org.udckpt.process.model.SharedMemory;
import org.udckpt.process.model.TcpSocket;
import org.udckpt.process.model.TerminalObject;

/**
 * The job's files: paths that lead nowhere else, each once, and ids that nothing else has. The image's other tables
 * have been checked.
 */
final class FileCheck {
    private static final int MODES = 07777, TARGET = 4096;

    private final JobImage image;

    FileCheck(JobImage image) {
        this.image = image;
    }

    void check() throws BrokenTable {
        Set<Long> ids = new HashSet<>();
        Map<Long, String> mapped = new HashMap<>();
        for (KernelObject object : image.objects()) {
            switch (object) {
                case MappedFile _ -> {
                } // nothing refers to it by its id
                case SharedMemory memory when memory.kind() == MemoryKind.DISK_FILE -> mapped.put(memory.id(),
                        memory.path());
                default -> ids.add(object.id());
            }
        }
        image.tcpSockets().stream().map(TcpSocket::id).forEach(ids::add);
        image.terminals().stream().map(TerminalObject::id).forEach(ids::add);
        image.packetSockets().stream().map(PacketSocket::id).forEach(ids::add);
        Map<String, JobFile> seen = new HashMap<>();
        RowCheck row = new RowCheck("files");
        for (JobFile file : image.files()) {
            row.next();
            path(row, "path", file.path());
            boolean named = file instanceof JobFile.Named;
            row.require(named || seen.put(file.path(), file) == null, "duplicate path (length %d)",
                    file.path().length());
            switch (file) {
                case JobFile.RegularFile regular -> {
                    row.between(1, Long.MAX_VALUE, "id", regular.id());
                    row.require(ids.add(regular.id())
                            && mapped.getOrDefault(regular.id(), regular.path()).equals(regular.path()),
                            "duplicate id %d: another object or file has it", regular.id());
                    row.between(0, Long.MAX_VALUE - RowCheck.PAGE, "size", regular.size());
                    row.between(0, MODES, "mode", regular.mode());
                    row.notNegative("uid", regular.uid());
                    row.notNegative("gid", regular.gid());
                    row.notNull("cut", regular.cut());
                }
                case JobFile.HardLink link -> path(row, "of", link.of());
                case JobFile.SymbolicLink link -> {
                    row.text("target", link.target());
                    row.length("target", link.target().length(), 1, TARGET, 1);
                    row.notNegative("uid", link.uid());
                    row.notNegative("gid", link.gid());
                }
                case JobFile.Directory directory -> {
                    row.between(0, MODES, "mode", directory.mode());
                    row.notNegative("uid", directory.uid());
                    row.notNegative("gid", directory.gid());
                }
                case JobFile.LeftOut out -> row.text("reason", out.reason());
                case JobFile.Named pattern -> pattern(row, pattern.path());
            }
        }
        links(seen);
    }

    private void links(Map<String, JobFile> seen) throws BrokenTable {
        RowCheck row = new RowCheck("files");
        for (JobFile file : image.files()) {
            row.next();
            if (file instanceof JobFile.HardLink link) {
                row.require(seen.get(link.of()) instanceof JobFile.RegularFile,
                        "of is not the path of a regular file of this table (length %d)", link.of().length());
            }
        }
    }

    /** Checks the path of a file: the root directory is none. */
    static void path(RowCheck row, String column, String path) throws BrokenTable {
        row.path(column, path);
        row.length(column, path.length(), 2, Integer.MAX_VALUE, 1);
    }

    private static void pattern(RowCheck row, String text) throws BrokenTable {
        try {
            PathPattern.of(text);
        } catch (IllegalArgumentException e) {
            throw row.broken("path is not a valid pattern: " + e.getMessage());
        }
    }
}
