package org.udckpt.cli.classarchive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

@Timeout(120)
class OldClassesTest {
    private static final int JAVA_8 = 52;

    @TempDir
    Path directory;

    /** The newer verifier has looked at each class that has been initialized. */
    @Test
    void classesOfAnOldLibraryPassTheNewVerifier() throws Exception {
        Path jar = Files.copy(library(), directory.resolve("old.jar"));
        try (URLClassLoader classes = new URLClassLoader(new URL[]{jar.toUri().toURL()})) {
            ClassFile tool = ArchivableJars.tool(classes);
            assertTrue(OldClasses.renew(jar, tool), "picocli has no old classes any more: OldClasses can go");
            assertFalse(OldClasses.renew(jar, tool), "nothing is left to do");
        }
        assertEquals(List.of(jar), Files.list(directory).toList());
        int classes = 0;
        try (JarFile file = new JarFile(jar.toFile()); URLClassLoader loader =
                new URLClassLoader(new URL[]{jar.toUri().toURL()}, ClassLoader.getPlatformClassLoader())) {
            for (JarEntry entry : file.stream().filter(
                    entry -> entry.getName().startsWith("picocli/CommandLine") && entry.getName().endsWith(".class"))
                    .toList()) {
                try (InputStream in = file.getInputStream(entry)) {
                    assertEquals(JAVA_8, ByteBuffer.wrap(in.readAllBytes()).getShort(6), entry.getName());
                }
                Class.forName(entry.getName().replace('/', '.').replace(".class", ""), true, loader);
                classes++;
            }
        }
        assertTrue(classes > 100, "classes: " + classes);
    }

    private static Path library() throws Exception {
        return Path.of(CommandLine.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    }
}
