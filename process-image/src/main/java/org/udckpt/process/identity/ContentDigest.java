package org.udckpt.process.identity;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Sha256;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.FileIdentity;

/** Identifies a file's content: SHA-256 of all of it, and the build id of an ELF file. */
public record ContentDigest(byte[] sha256, String buildId) {
    /** Larger files have no digest: to read one once takes longer than a checkpoint may wait for. */
    public static final long MOST_BYTES = 1L << 30;
    private static final int PART = 1 << 20, ELF = 0x464c457f;

    /** Whether what has this name now has these contents. @throws LinuxError it cannot be read */
    public static boolean isStill(FileIdentity then) {
        int file = Files.open(then.path(), Syscall.O_RDONLY | Syscall.O_NONBLOCK);
        try {
            Files.Stat now = Files.stat(file);
            return now.type() == Files.Stat.REGULAR && now.size() == then.size()
                    && Arrays.equals(of(file, then.path()).sha256, then.digest());
        } finally {
            Files.close(file);
        }
    }

    /** @param file at any position, which stays what it is. @param what names it in errors */
    public static ContentDigest of(int file, String what) {
        Sha256 hash = Sha256.create();
        String buildId = "";
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment part = arena.allocate(PART, 4096);
            long at = 0;
            boolean elf = false;
            for (long n; (n =
                    LinuxError.check(Syscall.call(Syscall.PREAD64, file, part.address(), PART, at), "read " + what))
                    > 0; at += n) {
                hash.add(part.asSlice(0, n));
                elf |= at == 0 && n > 4 && part.get(JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN), 0) == ELF;
            }
            if (elf) {
                buildId = ElfNotes.buildId(file);
            }
        }
        return new ContentDigest(hash.finish(), buildId);
    }
}
