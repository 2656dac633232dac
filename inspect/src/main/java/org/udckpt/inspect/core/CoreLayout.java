package org.udckpt.inspect.core;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Where in a core file what lies: ELF header, program headers, notes, and from a page's border on the segments' bytes
 * (elf(5)).
 *
 * @param headers all up to the notes' end
 * @param offsets of the segments' bytes
 * @param length of the file
 */
record CoreLayout(byte[] headers, long[] offsets, long length) {
    private static final int ELF_HEADER = 64, PROGRAM_HEADER = 56, SECTION_HEADER = 64, PAGE = 4096;
    private static final short ET_CORE = 4, EM_X86_64 = 62;
    private static final int PT_LOAD = 1, PT_NOTE = 4;
    /**
     * So many program headers or more do not fit into e_phnum: the number is in sh_info of a section header then
     * (elf(5), PN_XNUM).
     */
    private static final int TOO_MANY = 0xffff;

    static CoreLayout of(List<Segment> segments, byte[] notes) {
        int count = segments.size() + 1;
        boolean many = count >= TOO_MANY;
        int sections = ELF_HEADER + PROGRAM_HEADER * count;
        int notesAt = sections + (many ? SECTION_HEADER : 0);
        ByteBuffer out = Notes.contents(notesAt + notes.length);
        elfHeader(out, many, count, sections);
        programHeader(out, PT_NOTE, 0, notesAt, 0, notes.length, 0, 4);
        long[] offsets = new long[segments.size()];
        long at = aligned(notesAt + notes.length);
        for (int i = 0; i < offsets.length; i++) {
            Segment segment = segments.get(i);
            offsets[i] = at;
            programHeader(out, PT_LOAD, segment.flags(), at, segment.start(), segment.fileSize(), segment.size(), PAGE);
            at += segment.fileSize();
        }
        if (many) {
            out.position(sections + 40).putInt(1).putInt(count); // sh_link, sh_info; all else is 0 (SHT_NULL)
        }
        out.position(notesAt).put(notes);
        return new CoreLayout(out.array(), offsets, at);
    }

    private static void elfHeader(ByteBuffer out, boolean many, int count, int sections) {
        out.put("\177ELF".getBytes(StandardCharsets.ISO_8859_1)).put((byte) 2 /* 64 bits */)
                .put((byte) 1 /* little-endian */).put((byte) 1 /* version */);
        out.position(16).putShort(ET_CORE).putShort(EM_X86_64).putInt(1).putLong(0 /* entry */).putLong(ELF_HEADER)
                .putLong(many ? sections : 0).putInt(0);
        out.putShort((short) ELF_HEADER).putShort((short) PROGRAM_HEADER).putShort((short) (many ? TOO_MANY : count));
        out.putShort((short) (many ? SECTION_HEADER : 0)).putShort((short) (many ? 1 : 0)).putShort((short) 0);
    }

    private static void programHeader(ByteBuffer out, int type, int flags, long offset, long address, long fileSize,
            long memorySize, int alignment) {
        out.putInt(type).putInt(flags).putLong(offset).putLong(address).putLong(0).putLong(fileSize).putLong(memorySize)
                .putLong(alignment);
    }

    private static long aligned(long at) {
        return at + PAGE - 1 & -PAGE;
    }
}
