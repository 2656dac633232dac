package org.udckpt.cli.classarchive;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Run by the build: changes the jars such that an archive of classes has all that a JVM needs of them. */
public final class ArchivableJars {
    private static final String OURS = "udckpt-";

    private ArchivableJars() {}

    /** @param arguments the jars of the class path */
    public static void main(String[] arguments) throws IOException {
        List<Path> jars = Stream.of(arguments).map(Path::of).toList();
        URL[] places = jars.stream().map(ArchivableJars::place).toArray(URL[]::new);
        try (URLClassLoader classes = new URLClassLoader(places, ClassLoader.getPlatformClassLoader())) {
            ClassFile tool = tool(classes);
            for (Path jar : jars) {
                if (jar.getFileName().toString().startsWith(OURS)) {
                    DynamicCalls.replace(jar, tool);
                } else {
                    OldClasses.renew(jar, tool);
                }
            }
        }
    }

    /** One that asks the loader what a class extends. */
    static ClassFile tool(ClassLoader classes) {
        return ClassFile.of(
                ClassFile.ClassHierarchyResolverOption.of(ClassHierarchyResolver.ofResourceParsing(classes)));
    }

    private static URL place(Path jar) {
        try {
            return jar.toUri().toURL();
        } catch (MalformedURLException e) {
            throw new UncheckedIOException(e);
        }
    }
}
