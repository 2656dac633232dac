package org.udckpt.process.trace;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * The linker's fingerprint of an ELF image: equal ones have equal addresses, also when the kernel patched some
 * instructions.
 */
public final class BuildId {
    private static final int NT_GNU_BUILD_ID = 3, GNU = 0x00554e47, NAME_BYTES = 4, MOST = 64;

    private BuildId() {}

    /**
     * In hexadecimal, from the note (elf(5), Elf64_Nhdr: name size, description size, type) in {@code image}; "" when
     * there is none.
     */
    public static String of(byte[] image) {
        ByteBuffer elf = ByteBuffer.wrap(image).order(ByteOrder.LITTLE_ENDIAN);
        for (int at = 0; at + 16 <= image.length; at += 4) {
            int size = elf.getInt(at + 4);
            boolean note =
                    elf.getInt(at) == NAME_BYTES && elf.getInt(at + 8) == NT_GNU_BUILD_ID && elf.getInt(at + 12) == GNU;
            if (note && size > 0 && size <= MOST && at + 16 + size <= image.length) {
                return HexFormat.of().formatHex(Arrays.copyOfRange(image, at + 16, at + 16 + size));
            }
        }
        return "";
    }
}
