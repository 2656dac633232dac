package org.udckpt.process.capture;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.QuietOpen;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.trace.ElfSymbols;

/** Where libudckpt.so is in a stopped process, and its symbols. */
record PreloadedLibrary(TracedProcess process, Mapping first) {
    private static final String NAME = "/libudckpt.so";
    private static final ConcurrentHashMap<String, Long> SYMBOLS = new ConcurrentHashMap<>();
    private static final ConcurrentHashMap<String, Optional<long[]>> RELOCATED = new ConcurrentHashMap<>();

    /** Null: the process does not have it, or its dynamic linker has not come so far. */
    static PreloadedLibrary find(TracedProcess process) {
        for (Mapping mapping : process.mappings) {
            if (mapping.path().endsWith(NAME) && mapping.offset() == 0) {
                return new PreloadedLibrary(process, mapping);
            }
        }
        return null;
    }

    String path() {
        return first.path();
    }

    /** The symbol's address in the process. */
    long address(String symbol) {
        long address = find(symbol);
        if (address < 0) {
            throw process.refuse(first.path() + " has no symbol " + symbol
                    + ": it is not the library of this agent; start the job again with `udckpt run`");
        }
        return address;
    }

    /** The same; -1 when the library has no such symbol. */
    long find(String symbol) {
        long value = SYMBOLS.computeIfAbsent(symbol + ":" + key(),
                unused -> read(() -> ElfSymbols.find(bytes(), path(), symbol)));
        return value < 0 ? -1 : first.start() + value;
    }

    /** A program may have mapped any file of that name. */
    private <T> T read(Supplier<T> reading) {
        try {
            return reading.get();
        } catch (IllegalArgumentException e) {
            throw process.refuse("it has mapped a file with the name of udckpt's library that is not this library: "
                    + e.getMessage());
        }
    }

    /** Whether the dynamic linker has done with it: before, its code finds neither its data nor other libraries'. */
    boolean linked() {
        Optional<long[]> relocated = RELOCATED.computeIfAbsent(key(),
                unused -> read(() -> Optional.ofNullable(ElfSymbols.relocated(bytes(), path()))));
        return relocated.isPresent() && has(relocated.get()[0], "r-") // written until then
                && has(relocated.get()[1], "rw"); // and, before its data are mapped, a page of the file like all others
    }

    private boolean has(long address, String permissions) {
        Mapping mapping = mapping(first.start() + address, 1);
        return mapping != null && mapping.permissions().startsWith(permissions);
    }

    private String key() {
        return first.device() + ":" + first.inode() + ":" + first.path();
    }

    private byte[] bytes() {
        String file = first.deleted() ? "/proc/%d/map_files/%x-%x".formatted(process.task(), first.start(), first.end())
                : first.path();
        int fd = QuietOpen.openIfPossible(file);
        try {
            byte[] bytes = new byte[Math.toIntExact(Files.stat(fd).size())];
            MemorySegment data = Scratch.data();
            for (int at = 0, n; at < bytes.length; at += n) {
                n = (int) LinuxError.check(Syscall.call(Syscall.PREAD64, fd, data.address(),
                        Math.min(Scratch.DATA_BYTES, bytes.length - at), at), "read " + file);
                if (n == 0) {
                    throw new CaptureFailed(file + ", which the job maps, became shorter while it was read");
                }
                MemorySegment.copy(data, JAVA_BYTE, 0, bytes, at, n);
            }
            return bytes;
        } finally {
            Files.close(fd);
        }
    }

    /**
     * The mapping that holds {@code bytes} from an address on. The dynamic linker first maps the whole file as its
     * first segment is, and then each segment over that: what is not mapped in its own way yet holds other bytes of the
     * file.
     */
    Mapping mapping(long address, int bytes) {
        for (Mapping mapping : process.mappings) {
            if (mapping.covers(address, address + bytes)) {
                return mapping;
            }
        }
        return null;
    }
}
