package org.udckpt.launch;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * What the launcher wants to know of an ELF64 file (elf(5)).
 *
 * @param machine e_machine
 * @param interpreter the program interpreter (ld.so), or null for a static program
 * @param needed names of the shared libraries that it asks for (DT_NEEDED)
 */
record ElfFile(int machine, String interpreter, List<String> needed) {
    static final int MACHINE_X86_64 = 62;
    private static final int HEADER = 64;
    private static final int PROGRAM_HEADER = 56;
    private static final int PT_LOAD = 1;
    private static final int PT_DYNAMIC = 2;
    private static final int PT_INTERP = 3;
    private static final long DT_NEEDED = 1;
    private static final long DT_STRTAB = 5;
    private static final int TABLE_MAX = 1 << 20;

    private record Segment(int type, long offset, long address, long size) {}

    static boolean isElf(byte[] start) {
        return start.length >= 4 && start[0] == 0x7f && start[1] == 'E' && start[2] == 'L' && start[3] == 'F';
    }

    /** Reads a file that begins with the ELF magic; machine 0 stands for a 32-bit or big-endian one. */
    static ElfFile read(Path path) throws IOException {
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ)) {
            ByteBuffer header = bytes(file, 0, HEADER, path);
            if (header.get(4) != 2 || header.get(5) != 1) {
                return new ElfFile(0, null, List.of());
            }
            List<Segment> segments = segments(file, header, path);
            String interpreter = null;
            List<String> needed = List.of();
            for (Segment segment : segments) {
                switch (segment.type) {
                    case PT_INTERP -> interpreter = string(bytes(file, segment.offset, segment.size, path), 0);
                    case PT_DYNAMIC -> needed = needed(file, segment, segments, path);
                    default -> {
                    } // the other segments say nothing about how to start the program
                }
            }
            return new ElfFile(Short.toUnsignedInt(header.getShort(18)), interpreter, needed);
        }
    }

    private static List<Segment> segments(FileChannel file, ByteBuffer header, Path path) throws IOException {
        int size = Short.toUnsignedInt(header.getShort(54));
        int count = Short.toUnsignedInt(header.getShort(56));
        if (count > 0 && size < PROGRAM_HEADER) {
            throw new IOException(path + ": damaged ELF file: program headers of " + size + " bytes");
        }
        ByteBuffer table = bytes(file, header.getLong(32), (long) size * count, path);
        List<Segment> segments = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int at = i * size;
            segments.add(new Segment(table.getInt(at), table.getLong(at + 8), table.getLong(at + 16),
                    table.getLong(at + 32)));
        }
        return segments;
    }

    private static List<String> needed(FileChannel file, Segment dynamic, List<Segment> segments, Path path)
            throws IOException {
        ByteBuffer table = bytes(file, dynamic.offset, dynamic.size, path);
        List<Long> names = new ArrayList<>();
        long strings = -1;
        for (int at = 0; at + 16 <= table.capacity(); at += 16) {
            long tag = table.getLong(at);
            if (tag == DT_NEEDED) {
                names.add(table.getLong(at + 8));
            } else if (tag == DT_STRTAB) {
                strings = fileOffset(table.getLong(at + 8), segments);
            }
        }
        List<String> needed = new ArrayList<>();
        for (long name : names) {
            if (strings >= 0) {
                long start = strings + name;
                needed.add(string(bytes(file, start, Math.min(256, file.size() - start), path), 0));
            }
        }
        return needed;
    }

    private static long fileOffset(long address, List<Segment> segments) {
        for (Segment segment : segments) {
            if (segment.type == PT_LOAD && address >= segment.address && address < segment.address + segment.size) {
                return segment.offset + address - segment.address;
            }
        }
        return -1;
    }

    private static ByteBuffer bytes(FileChannel file, long offset, long size, Path path) throws IOException {
        if (size < 0 || size > TABLE_MAX || offset < 0 || offset > file.size() - size) {
            throw new IOException(
                    path + ": damaged ELF file: " + size + " bytes at offset " + offset + " of " + file.size());
        }
        ByteBuffer buffer = ByteBuffer.allocate((int) size).order(ByteOrder.LITTLE_ENDIAN);
        while (buffer.hasRemaining()) {
            if (file.read(buffer, offset + buffer.position()) < 0) {
                throw new IOException(path + ": the file ended while it was read");
            }
        }
        return buffer.flip();
    }

    private static String string(ByteBuffer bytes, int from) {
        int end = from;
        while (end < bytes.limit() && bytes.get(end) != 0) {
            end++;
        }
        return new String(bytes.array(), from, end - from, StandardCharsets.UTF_8);
    }
}
