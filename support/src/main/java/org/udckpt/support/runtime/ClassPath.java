package org.udckpt.support.runtime;

/**
 * The jars of this program. A class loader opens each when it comes to it, and one that cannot be opened then, for want
 * of a descriptor (EMFILE), it passes over for ever: what the jar holds is missing until the process ends.
 */
public final class ClassPath {
    private static final String IN_NO_JAR = "org/udckpt/in-no-jar";

    private ClassPath() {}

    /** All of them, to the last, stay open from here on; 20 ms. */
    public static void open() {
        ClassLoader.getSystemResource(IN_NO_JAR);
    }
}
