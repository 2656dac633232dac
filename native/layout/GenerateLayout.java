import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Makes the C header or the Java class of udckpt.layout. Run as a source file, by CMake and by Maven:
 * {@code java GenerateLayout.java c|java DEFINITION OUTPUT}. Fails on a misaligned field or a size that is too small.
 */
final class GenerateLayout {
    record Const(String name, String value) {}
    record Field(String type, int count, String name, int offset, String comment) {
        int bytes() {
            return width(type) * count;
        }
    }
    record Struct(String name, int size, List<Field> fields) {}

    private final List<Const> consts = new ArrayList<>();
    private final List<Struct> structs = new ArrayList<>();
    private long hash = 0xcbf29ce484222325L;

    public static void main(String[] args) throws IOException {
        GenerateLayout layout = new GenerateLayout();
        layout.parse(Files.readAllLines(Path.of(args[1])));
        Path out = Path.of(args[2]);
        Files.createDirectories(out.toAbsolutePath().getParent());
        String text = args[0].equals("c") ? layout.c() : layout.java();
        if (!Files.exists(out) || !Files.readString(out).equals(text)) {
            Files.writeString(out, text);
        }
    }

    private void parse(List<String> lines) {
        String name = null;
        int size = 0;
        List<Field> fields = new ArrayList<>();
        for (String raw : lines) {
            int sharp = raw.indexOf('#');
            String comment = sharp < 0 ? "" : raw.substring(sharp + 1).strip();
            String[] words = (sharp < 0 ? raw : raw.substring(0, sharp)).strip().split("\\s+");
            if (words[0].isEmpty()) {
                continue;
            }
            for (String word : words) {
                for (char c : (word + " ").toCharArray()) {
                    hash = (hash ^ c) * 0x100000001b3L;
                }
            }
            switch (words[0]) {
                case "const" -> consts.add(new Const(words[1], words[2]));
                case "struct" -> {
                    if (name != null)
                        structs.add(finish(name, size, fields));
                    name = words[1];
                    size = words.length > 2 ? Integer.parseInt(words[2]) : 0;
                    fields = new ArrayList<>();
                }
                default -> fields.add(field(name, words, comment, fields));
            }
        }
        structs.add(finish(name, size, fields));
    }

    private static Field field(String struct, String[] words, String comment, List<Field> before) {
        int bracket = words[0].indexOf('[');
        String type = bracket < 0 ? words[0] : words[0].substring(0, bracket);
        int count = bracket < 0 ? 1 : Integer.parseInt(words[0].substring(bracket + 1, words[0].length() - 1));
        int offset = before.isEmpty() ? 0 : before.getLast().offset() + before.getLast().bytes();
        if (offset % width(type) != 0) {
            throw new IllegalArgumentException(
                    "struct " + struct + ": field " + words[1] + " at " + offset + " is misaligned");
        }
        return new Field(type, count, words[1], offset, comment);
    }

    private static Struct finish(String name, int size, List<Field> fields) {
        int used = fields.getLast().offset() + fields.getLast().bytes();
        if (size == 0)
            size = used;
        if (used > size || size % 8 != 0) {
            throw new IllegalArgumentException("struct " + name + ": " + used + " bytes do not make " + size);
        }
        return new Struct(name, size, fields);
    }

    private static int width(String type) {
        return switch (type) {
            case "u8" -> 1;
            case "u16" -> 2;
            case "u32" -> 4;
            case "u64" -> 8;
            default -> throw new IllegalArgumentException("unknown type " + type);
        };
    }

    private String c() {
        StringBuilder s = new StringBuilder(
                "/* Made by GenerateLayout.java from udckpt.layout. */\n#pragma once\n#include <stdint.h>\n#include "
                        + "<stddef.h>\n\n");
        s.append("#define UDCKPT_LAYOUT_HASH 0x%xull\n".formatted(hash));
        for (Const c : consts) {
            s.append("#define UDCKPT_%s %s%s\n".formatted(c.name, c.value, c.value.length() > 10 ? "ull" : ""));
        }
        for (Struct t : structs) {
            s.append("\nstruct udckpt_%s {\n".formatted(t.name));
            int used = 0;
            for (Field f : t.fields) {
                s.append("    %s %s%s;%s\n".formatted(f.type.replace("u", "uint") + "_t", f.name,
                        f.count > 1 ? "[" + f.count + "]" : "",
                        f.comment.isEmpty() ? "" : " /* " + f.comment + " */"));
                used = f.offset + f.bytes();
            }
            if (used < t.size)
                s.append("    uint8_t padding[%d];\n".formatted(t.size - used));
            s.append("};\n_Static_assert(sizeof(struct udckpt_%s) == %d, \"%s\");\n".formatted(t.name, t.size, t.name));
            for (Field f : t.fields) {
                s.append("_Static_assert(offsetof(struct udckpt_%s, %s) == %d, \"%s\");\n".formatted(t.name, f.name,
                        f.offset, f.name));
            }
        }
        return s.toString();
    }

    private String java() {
        StringBuilder s = new StringBuilder(
                "package org.udckpt.layout;\n\n/** Made by GenerateLayout.java from udckpt.layout: constants, and "
                        + "byte offsets of the shared records. */\npublic final class Layout {\n    private Layout() "
                        + "{}\n\n");
        s.append("    public static final long LAYOUT_HASH = 0x%xL;\n".formatted(hash));
        for (Const c : consts) {
            boolean wide = c.value.length() > 10;
            s.append("    public static final %s %s = %s%s;\n".formatted(wide ? "long" : "int", c.name, c.value,
                    wide ? "L" : ""));
        }
        for (Struct t : structs) {
            s.append(
                    ("\n    /** Byte offsets in struct udckpt_%s. */\n    public static final class %s {\n        "
                            + "private %s() {}\n").formatted(t.name, camel(t.name), camel(t.name)));
            s.append("        public static final int SIZE = %d;\n".formatted(t.size));
            for (Field f : t.fields) {
                if (!f.comment.isEmpty())
                    s.append("        /** %s */\n"
                            .formatted(f.comment.replace("<", "&lt;").replace(">", "&gt;").replace("&", "&amp;")));
                s.append("        public static final int %s = %d;\n".formatted(f.name.toUpperCase(Locale.ROOT),
                        f.offset));
                if (f.count > 1)
                    s.append("        public static final int %s_BYTES = %d;\n"
                            .formatted(f.name.toUpperCase(Locale.ROOT), f.bytes()));
            }
            s.append("    }\n");
        }
        return s.append("}\n").toString();
    }

    private static String camel(String name) {
        StringBuilder s = new StringBuilder();
        for (String word : name.split("_"))
            s.append(Character.toUpperCase(word.charAt(0))).append(word.substring(1));
        return s.toString();
    }
}
