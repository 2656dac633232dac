package org.udckpt.process.kinds.mount;

import java.util.Set;
import org.udckpt.linux.Files;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.FilesystemEntry;
import org.udckpt.process.model.JobFilesystem;
import org.udckpt.process.model.MemoryKind;
import org.udckpt.process.model.RowCheck;
import org.udckpt.process.model.SharedMemory;

/** What is in file systems of the job's own. */
public final class FilesystemEntryKind implements ObjectKind<FilesystemEntry> {
    private static final int MOST_BYTES = 1 << 24;
    private static final Set<Integer> TYPES = Set.of(Files.Stat.DIRECTORY, Files.Stat.REGULAR, Files.Stat.LINK,
            Files.Stat.FIFO, Files.Stat.SOCKET, Files.Stat.CHARACTER, Files.Stat.BLOCK);

    @Override
    public Class<FilesystemEntry> record() {
        return FilesystemEntry.class;
    }

    @Override
    public String shown(FilesystemEntry one) {
        return one.path();
    }

    @Override
    public void check(FilesystemEntry one, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.is(one.filesystem(), JobFilesystem.class), "filesystem %d is none", one.filesystem());
        row.path("path", one.path());
        row.require((one.fileMode() & ~(Files.Stat.TYPE | 07777)) == 0 && TYPES.contains(type(one)),
                "fileMode 0%o is none", one.fileMode());
        row.require(!one.path().equals("/") || type(one) == Files.Stat.DIRECTORY, "fileMode 0%o is not that of a root "
                + "directory", one.fileMode());
        row.notNegative("uid", one.uid());
        row.notNegative("gid", one.gid());
        row.text("target", one.target());
        MountTrees.shortEnough(row, one.path());
        MountTrees.shortEnough(row, one.target());
        row.require(one.target().isEmpty() || type(one) != Files.Stat.DIRECTORY, "a directory has a target (length %d)",
                one.target().length());
        row.require(one.content() == 0 || type(one) == Files.Stat.REGULAR && one.target().isEmpty()
                && image.get(one.content()) instanceof SharedMemory memory && memory.kind() == MemoryKind.MOUNTED_FILE,
                "content %d is not that of a file", one.content());
        row.bytes("extended", one.extended(), 0, MOST_BYTES, 1);
        row.require(ExtendedAttributes.areWhole(one.extended()), "extended are no names and values (length %d)",
                one.extended().length);
    }

    static int type(FilesystemEntry entry) {
        return entry.fileMode() & Files.Stat.TYPE;
    }
}
