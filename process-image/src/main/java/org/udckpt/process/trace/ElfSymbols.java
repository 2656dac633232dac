package org.udckpt.process.trace;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/** The dynamic symbols of a 64-bit little-endian ELF file (elf(5)). */
public final class ElfSymbols {
    private static final int SHT_DYNSYM = 11, STT_FUNC = 2, SYMBOL_BYTES = 24, PT_LOAD = 1, PT_GNU_RELRO = 0x6474e552;
    private static final long PAGE = 4096;

    /** @param value address in the file's own numbering, less that of its first byte; @param size in bytes */
    public record Function(long value, long size) {}

    private record Table(ByteBuffer elf, int start, int end, int strings) {}

    private ElfSymbols() {}

    /** The symbol's value (virtual address in the file), or -1 when the file does not define it. */
    public static long find(Path file, String symbol) {
        try {
            return find(Files.readAllBytes(file), file.toString(), symbol);
        } catch (IOException failure) {
            throw new UncheckedIOException("cannot read " + file, failure);
        }
    }

    /**
     * The same of a file's bytes.
     *
     * @param name of the file, for errors
     * @throws IllegalArgumentException where it is none, or an offset in it leads out of it
     */
    public static long find(byte[] bytes, String name, String symbol) {
        try {
            return find(table(bytes, name), symbol);
        } catch (IndexOutOfBoundsException e) {
            throw damaged(name, e);
        }
    }

    private static long find(Table table, String symbol) {
        for (int at = table.start; at < table.end; at += SYMBOL_BYTES) {
            if (defined(table, at) && named(table.elf, table.strings + table.elf.getInt(at), symbol)) {
                return table.elf.getLong(at + 8);
            }
        }
        return -1;
    }

    private static IllegalArgumentException damaged(String name, IndexOutOfBoundsException cause) {
        return new IllegalArgumentException(name + " is a damaged ELF file: an offset in it leads out of it", cause);
    }

    /**
     * All functions that an ELF image as it lies in memory (the vDSO) defines, by name.
     *
     * @param name of the image, for errors
     * @throws IllegalArgumentException where it is none, or an offset in it leads out of it
     */
    public static Map<String, Function> functions(byte[] bytes, String name) {
        try {
            return functions(table(bytes, name));
        } catch (IndexOutOfBoundsException e) {
            throw damaged(name, e);
        }
    }

    private static Map<String, Function> functions(Table table) {
        long first = firstAddress(table.elf);
        Map<String, Function> functions = new TreeMap<>();
        for (int at = table.start; at < table.end; at += SYMBOL_BYTES) {
            if (defined(table, at) && (table.elf.get(at + 4) & 15) == STT_FUNC) {
                functions.put(text(table.elf, table.strings + table.elf.getInt(at)),
                        new Function(table.elf.getLong(at + 8) - first, table.elf.getLong(at + 16)));
            }
        }
        return functions;
    }

    private static Table table(byte[] bytes, String name) {
        ByteBuffer elf = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        if (elf.limit() < 64 || elf.getInt(0) != 0x464c457f || elf.get(4) != 2) {
            throw new IllegalArgumentException(name + " is not a 64-bit ELF file");
        }
        long sections = elf.getLong(40);
        int size = Short.toUnsignedInt(elf.getShort(58));
        int count = Short.toUnsignedInt(elf.getShort(60));
        for (int i = 0; i < count; i++) {
            int header = (int) sections + i * size;
            if (elf.getInt(header + 4) == SHT_DYNSYM) {
                int strings = (int) elf.getLong((int) sections + elf.getInt(header + 40) * size + 24);
                int start = (int) elf.getLong(header + 24);
                return new Table(elf, start, start + (int) elf.getLong(header + 32), strings);
            }
        }
        return new Table(elf, 0, 0, 0);
    }

    /**
     * The pages that the dynamic linker makes read-only when it has relocated the file (PT_GNU_RELRO); null: there are
     * none.
     *
     * @return from, to, in the file's own numbering
     */
    public static long[] relocated(byte[] bytes, String name) {
        try {
            ByteBuffer elf = table(bytes, name).elf;
            int header = header(elf, PT_GNU_RELRO);
            return header < 0 ? null : new long[]{elf.getLong(header + 16) & -PAGE,
                    elf.getLong(header + 16) + elf.getLong(header + 40) + PAGE - 1 & -PAGE};
        } catch (IndexOutOfBoundsException e) {
            throw damaged(name, e);
        }
    }

    private static long firstAddress(ByteBuffer elf) {
        int header = header(elf, PT_LOAD);
        return header < 0 ? 0 : elf.getLong(header + 16); // p_vaddr
    }

    /** Where the first header of a type is; -1: there is none. */
    private static int header(ByteBuffer elf, int type) {
        int header = (int) elf.getLong(32);
        for (int i = 0; i < Short.toUnsignedInt(elf.getShort(56));
                i++, header += Short.toUnsignedInt(elf.getShort(54))) {
            if (elf.getInt(header) == type) {
                return header;
            }
        }
        return -1;
    }

    private static boolean defined(Table table, int symbol) {
        return table.elf.getShort(symbol + 6) != 0;
    }

    private static String text(ByteBuffer elf, int at) {
        int end = at;
        while (elf.get(end) != 0) {
            end++;
        }
        return new String(elf.array(), at, end - at, StandardCharsets.UTF_8);
    }

    private static boolean named(ByteBuffer elf, int at, String symbol) {
        for (int i = 0; i < symbol.length(); i++) {
            if (elf.get(at + i) != symbol.charAt(i)) {
                return false;
            }
        }
        return elf.get(at + symbol.length()) == 0;
    }
}
