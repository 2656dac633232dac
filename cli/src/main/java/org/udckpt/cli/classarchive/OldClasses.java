package org.udckpt.cli.classarchive;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassFileVersion;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeTransform;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/**
 * Gives classes that were compiled for Java 5 or older (picocli's) the form of Java 8: the same code, with the stack
 * maps that the newer verifier wants. The JVM takes only such classes into an archive; without it every command would
 * read, verify and link them one by one, which takes as long as all the rest of a short command.
 */
final class OldClasses {
    private static final int OLDEST_ARCHIVABLE = ClassFile.JAVA_6_VERSION, VERSION_AT = 6, MAGIC = 0xCAFEBABE;

    private OldClasses() {}

    /**
     * False: nothing in it is old.
     *
     * @param tool knows the classes of the jar
     */
    static boolean renew(Path jar, ClassFile tool) throws IOException {
        return JarChange.apply(jar, bytes -> isOld(bytes) ? renew(tool, bytes) : null);
    }

    private static byte[] renew(ClassFile tool, byte[] old) {
        ClassTransform version = (builder, element) -> {
            if (element instanceof ClassFileVersion) {
                builder.withVersion(ClassFile.JAVA_8_VERSION, 0);
            } else {
                builder.with(element);
            }
        };
        // Code that is passed through element by element is written anew, with stack maps.
        return tool.withOptions(ClassFile.StackMapsOption.GENERATE_STACK_MAPS).transformClass(tool.parse(old),
                version.andThen(ClassTransform.transformingMethodBodies(
                        CodeTransform.ofStateful(() -> (builder, element) -> builder.with(element)))));
    }

    private static boolean isOld(byte[] bytes) {
        return bytes.length > VERSION_AT + 1 && ByteBuffer.wrap(bytes).getInt() == MAGIC
                && ByteBuffer.wrap(bytes).getShort(VERSION_AT) < OLDEST_ARCHIVABLE;
    }
}
