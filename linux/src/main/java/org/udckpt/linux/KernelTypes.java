package org.udckpt.linux;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/**
 * Where the running kernel has what in its structs: its own type information (BTF, linux/btf.h), which is there where
 * it was built with CONFIG_DEBUG_INFO_BTF.
 */
final class KernelTypes {
    private static final String FILE = "/sys/kernel/btf/vmlinux";
    private static final int MAGIC = 0xeb9f, TYPE_BYTES = 12, MEMBER_BYTES = 12;
    private static final int INT = 1, ARRAY = 3, STRUCT = 4, UNION = 5, ENUM = 6, TYPEDEF = 8, VOLATILE = 9, CONST = 10,
            RESTRICT = 11, FUNC_PROTO = 13, VAR = 14, DATASEC = 15, DECL_TAG = 17, ENUM64 = 19;

    /** What this kernel told: reading it takes a part of a stop (30 ms). */
    private static KernelTypes running;

    private final ByteBuffer bytes;
    private final int texts;
    /** Where each type begins; type 0 is void. */
    private final int[] at;
    private final Map<String, Integer> structs = new HashMap<>();

    /** The running kernel's. @throws IOException it has none, or in another form */
    static synchronized KernelTypes running() throws IOException {
        if (running == null) {
            running = new KernelTypes(ByteBuffer.wrap(Proc.bytes(FILE)));
        }
        return running;
    }

    KernelTypes(ByteBuffer file) throws IOException {
        bytes = file.order(ByteOrder.LITTLE_ENDIAN);
        if ((bytes.getShort(0) & 0xffff) != MAGIC) {
            throw new IOException(FILE + " is not of the form that linux/btf.h describes");
        }
        int header = bytes.getInt(4);
        int first = header + bytes.getInt(8);
        int end = first + bytes.getInt(12);
        texts = header + bytes.getInt(16);
        int[] found = new int[(end - first) / TYPE_BYTES + 1];
        int count = 1;
        for (int next = first; next < end; next += TYPE_BYTES + extra(next)) {
            if (kind(next) == STRUCT) {
                structs.putIfAbsent(text(bytes.getInt(next)), next);
            }
            found[count++] = next;
        }
        at = found;
    }

    private int kind(int type) {
        return bytes.getInt(type + 4) >>> 24 & 31;
    }

    private int members(int type) {
        return bytes.getInt(type + 4) & 0xffff;
    }

    /** Bytes behind the common ones of a type. */
    private int extra(int type) throws IOException {
        int members = members(type);
        return switch (kind(type)) {
            case INT, VAR, DECL_TAG -> 4;
            case ARRAY -> 12;
            case STRUCT, UNION, DATASEC, ENUM64 -> 12 * members;
            case ENUM, FUNC_PROTO -> 8 * members;
            // a pointer, a name for another type, and what else has nothing behind (btf.h names 19 kinds)
            case 2, 7, TYPEDEF, VOLATILE, CONST, RESTRICT, 12, 16, 18 -> 0;
            default -> throw new IOException(FILE + " has a type of the unknown kind " + kind(type));
        };
    }

    private String text(int offset) {
        int end = texts + offset;
        while (bytes.get(end) != 0) {
            end++;
        }
        return new String(bytes.array(), texts + offset, end - texts - offset, StandardCharsets.UTF_8);
    }

    private int struct(String name) throws IOException {
        Integer type = structs.get(name);
        if (type == null) {
            throw new IOException("this kernel has no struct " + name);
        }
        return type;
    }

    /** Bytes of a struct. */
    int size(String struct) throws IOException {
        return bytes.getInt(struct(struct) + 8);
    }

    boolean has(String struct, String member) {
        Integer type = structs.get(struct);
        return type != null && find(type, member) >= 0;
    }

    /** Bytes before a member of a struct, also one of a nameless struct or union in it. */
    int offset(String struct, String member) throws IOException {
        int offset = find(struct(struct), member);
        if (offset < 0) {
            throw new IOException("this kernel's struct " + struct + " has no " + member);
        }
        return offset;
    }

    private int find(int type, String member) {
        boolean bitfields = bytes.getInt(type + 4) < 0; // kind_flag: the offset shares its number with a size
        for (int i = 0; i < members(type); i++) {
            int one = type + TYPE_BYTES + MEMBER_BYTES * i;
            int bits = bytes.getInt(one + 8);
            int offset = (bitfields ? bits & 0xffffff : bits) / 8;
            String name = text(bytes.getInt(one));
            if (name.equals(member)) {
                return offset;
            }
            int inner = name.isEmpty() ? plain(bytes.getInt(one + 4)) : 0;
            int found = inner == 0 || kind(inner) != STRUCT && kind(inner) != UNION ? -1 : find(inner, member);
            if (found >= 0) {
                return offset + found;
            }
        }
        return -1;
    }

    /** Where the type with that number is, without const and the like; 0: void. */
    private int plain(int number) {
        int type = at[number];
        while (type != 0 && kind(type) >= TYPEDEF && kind(type) <= RESTRICT) {
            type = at[bytes.getInt(type + 8)];
        }
        return type;
    }
}
