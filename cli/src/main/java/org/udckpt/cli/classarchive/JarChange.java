package org.udckpt.cli.classarchive;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Enumeration;
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
        Path part = jar.resolveSibling(jar.getFileName() + ".part");
        boolean changed = false;
        try (JarFile old = new JarFile(jar.toFile());
                OutputStream file = Files.newOutputStream(part);
                JarOutputStream out = new JarOutputStream(file)) {
            for (Enumeration<JarEntry> entries = old.entries(); entries.hasMoreElements();) {
                JarEntry entry = entries.nextElement();
                byte[] bytes = bytes(old, entry);
                byte[] other = isClass(entry) ? change.of(bytes) : null;
                changed |= other != null;
                JarEntry copy = new JarEntry(entry.getName());
                copy.setTimeLocal(entry.getTimeLocal());
                out.putNextEntry(copy);
                out.write(other == null ? bytes : other);
            }
        }
        if (changed) {
            Files.move(part, jar, StandardCopyOption.ATOMIC_MOVE);
        } else {
            Files.delete(part);
        }
        return changed;
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
