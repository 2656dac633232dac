package org.udckpt.inspect.core;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.Region;
import org.udckpt.store.Extents;

/** What a core file says of the process as a whole. */
final class ProcessNotes {
    /** struct elf_prpsinfo of x86-64 (linux/elfcore.h). */
    private static final int INFO_BYTES = 136, USER = 16, NAME = 40, NAME_BYTES = 16, ARGUMENTS = 56,
            ARGUMENT_BYTES = 80;
    /** In ProcessState's memoryMap. */
    private static final int ARG_START = 7, ARG_END = 8;
    private static final long AT_UID = 11, AT_GID = 13;
    private static final int PAGE = 4096;

    private ProcessNotes() {}

    /** NT_PRPSINFO: the program's name, its arguments, its ids. */
    static ByteBuffer information(ProcessState process, MemorySource memory) {
        ByteBuffer info = Notes.contents(INFO_BYTES);
        int state = process.jobStopped() ? 3 : 0; // as the kernel numbers the letters "RSDTZW"
        info.put((byte) state).put((byte) "RSDT".charAt(state));
        info.position(USER).putInt(auxiliary(process, AT_UID)).putInt(auxiliary(process, AT_GID));
        info.putInt(process.pid()).putInt(process.parentPid()).putInt(process.processGroup()).putInt(process.session());
        text(info.position(NAME), process.name().getBytes(StandardCharsets.UTF_8), NAME_BYTES);
        text(info.position(ARGUMENTS), arguments(process, memory), ARGUMENT_BYTES);
        return info;
    }

    /** Ends with a NUL in any case. */
    private static void text(ByteBuffer into, byte[] text, int room) {
        into.put(text, 0, Math.min(text.length, room - 1));
    }

    /**
     * They lie on the stack, separated by NULs, which become spaces; the program's name where they are not in the
     * image.
     */
    private static byte[] arguments(ProcessState process, MemorySource memory) {
        long start = process.memoryMap()[ARG_START];
        long end = Math.min(process.memoryMap()[ARG_END], start + ARGUMENT_BYTES);
        List<long[]> stored = new Extents(memory).within(start, end);
        if (stored.size() != 1 || stored.getFirst()[0] != start) {
            return process.name().getBytes(StandardCharsets.UTF_8);
        }
        byte[] words = new byte[(int) (stored.getFirst()[1] - start)];
        MemorySegment read = Arena.ofAuto().allocate(words.length);
        memory.read(start, read);
        MemorySegment.copy(read, ValueLayout.JAVA_BYTE, 0, words, 0, words.length);
        for (int i = 0; i < words.length; i++) {
            words[i] = words[i] == 0 ? (byte) ' ' : words[i];
        }
        return words;
    }

    private static int auxiliary(ProcessState process, long type) {
        ByteBuffer words = ByteBuffer.wrap(process.auxv()).order(ByteOrder.LITTLE_ENDIAN);
        while (words.remaining() >= 16) {
            if (words.getLong() == type) {
                return (int) words.getLong();
            }
            words.getLong();
        }
        return 0;
    }

    /** NT_FILE: which files are mapped where; debuggers read from them what the core file leaves out. */
    static byte[] files(List<Region> mapped) {
        byte[][] names = mapped.stream().map(region -> (region.path() + "\0").getBytes(StandardCharsets.UTF_8))
                .toArray(byte[][]::new);
        ByteBuffer note =
                Notes.contents(16 + 24 * mapped.size() + Arrays.stream(names).mapToInt(name -> name.length).sum());
        note.putLong(mapped.size()).putLong(PAGE);
        mapped.forEach(
                region -> note.putLong(region.start()).putLong(region.end()).putLong(region.fileOffset() / PAGE));
        for (byte[] name : names) {
            note.put(name);
        }
        return note.array();
    }
}
