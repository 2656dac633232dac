package org.udckpt.cli.classarchive;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;

/** Puts other classes in place of some in a jar. */
final class JarChange {
    private static final String MODULE_INFO = "module-info.class";

    /** Of one class. */
    interface OfClass {
        /** The class that takes its place; null: it stays as it is. */
        byte[] of(byte[] bytes);
    }

    private JarChange() {}

    /** False: all classes stay, and the file does. Else a new file takes its place at once. */
    static boolean apply(Path jar, OfClass change) throws IOException {
        try (JarFile old = new JarFile(jar.toFile())) {
            Map<String, byte[]> changed = new HashMap<>();
            for (JarEntry entry : Collections.list(old.entries())) {
                byte[] other = isClass(entry) ? change.of(bytes(old, entry)) : null;
                if (other != null) {
                    changed.put(entry.getName(), other);
                }
            }
            if (!changed.isEmpty()) {
                write(old, changed, jar);
            }
            return !changed.isEmpty();
        }
    }

    private static void write(JarFile old, Map<String, byte[]> changed, Path jar) throws IOException {
        Path part = jar.resolveSibling(jar.getFileName() + ".part");
        try (OutputStream file = Files.newOutputStream(part); JarOutputStream out = new JarOutputStream(file)) {
            for (JarEntry entry : Collections.list(old.entries())) {
                JarEntry copy = new JarEntry(entry.getName());
                copy.setTimeLocal(entry.getTimeLocal());
                out.putNextEntry(copy);
                byte[] other = changed.get(entry.getName());
                out.write(other == null ? bytes(old, entry) : other);
            }
        }
        Files.move(part, jar, StandardCopyOption.ATOMIC_MOVE);
    }

    private static boolean isClass(JarEntry entry) {
        return entry.getName().endsWith(".class") && !entry.getName().endsWith(MODULE_INFO);
    }

    private static byte[] bytes(JarFile jar, JarEntry entry) throws IOException {
        try (var in = jar.getInputStream(entry)) {
            return in.readAllBytes();
        }
    }
}
