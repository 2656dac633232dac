package org.udckpt.inspect.core;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.process.identity.ContentDigest;
import org.udckpt.process.model.FileIdentity;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.MappedFile;
import org.udckpt.process.model.MemorySource;

/**
 * The first page of each program and library that a process maps, from the disk: an image leaves there what the job did
 * not change. Only of files that are still those of the checkpoint; the others are listed, since a debugger would show
 * their code for the job's.
 */
final class FirstPages {
    static final int BYTES = 4096;
    private static final byte[] ELF = {0x7f, 'E', 'L', 'F'};

    private final Map<String, MappedFile> files = new HashMap<>();
    private final Map<String, FileIdentity> identities = new HashMap<>();
    private final Map<String, MemorySource> pages = new HashMap<>();
    private final List<String> problems = new ArrayList<>();

    FirstPages(JobImage image) {
        image.identities().forEach(file -> identities.put(file.path(), file));
        image.objects().stream().filter(MappedFile.class::isInstance).map(MappedFile.class::cast)
                .forEach(file -> files.put(file.path(), file));
    }

    /** Null: not an ELF file, or not the checkpoint's. */
    MemorySource of(String path) {
        if (!pages.containsKey(path)) {
            pages.put(path, read(path));
        }
        return pages.get(path);
    }

    /** One sentence for each file that is not there as it was. */
    List<String> problems() {
        return List.copyOf(problems);
    }

    private MemorySource read(String path) {
        MappedFile then = files.get(path);
        try {
            if (then != null && !isStill(then)) {
                problems.add(path + " differs from the file at the checkpoint: a debugger shows the code of the new "
                        + "file");
                return null;
            }
            byte[] page = firstPage(path);
            return Arrays.equals(page, 0, ELF.length, ELF, 0, ELF.length) ? new Page(page) : null;
        } catch (LinuxError e) {
            problems.add(path + " cannot be read here, a debugger cannot show its code: " + e.getMessage());
            return null;
        }
    }

    /** Its first bytes, and zeros behind its end. */
    private static byte[] firstPage(String path) {
        int file = Files.open(path, Syscall.O_RDONLY);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment page = arena.allocate(BYTES);
            LinuxError.check(Syscall.call(Syscall.PREAD64, file, page.address(), BYTES, 0), "read ", path);
            return page.toArray(ValueLayout.JAVA_BYTE);
        } finally {
            Files.close(file);
        }
    }

    private boolean isStill(MappedFile then) {
        FileIdentity known = identities.get(then.path());
        if (known != null && known.digest() != null) {
            return ContentDigest.isStill(known);
        }
        Files.Stat now = Files.tryStat(then.path());
        return now != null && now.size() == then.size() && now.modified() == then.modifiedNs();
    }

    private record Page(byte[] bytes) implements MemorySource {
        @Override
        public long id() {
            return 0;
        }

        @Override
        public boolean process() {
            return false;
        }

        @Override
        public long[] extents() {
            return new long[]{0, BYTES};
        }

        @Override
        public void read(long offset, MemorySegment target) {
            MemorySegment.copy(MemorySegment.ofArray(bytes), offset, target, 0, target.byteSize());
        }
    }
}
