package org.udckpt.fuzz;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * A class with {@link Fuzzes} in a module's test classes.
 *
 * @param name   its simple name
 * @param method takes an input
 * @param inputs the directory of its inputs, {@code MODULE/src/test/fuzz/NAME}
 */
record FuzzTarget(String name, Class<?> type, Method method, Path inputs) {
    private static final String SUFFIX = "Fuzz.class";

    /** All in the module whose test classes are below {@code classes} ({@code MODULE/target/test-classes}), by name. */
    static List<FuzzTarget> below(Path classes) {
        Path module = classes.getParent().getParent();
        try (Stream<Path> files = Files.walk(classes)) {
            return files.filter(file -> file.toString().endsWith(SUFFIX)).sorted()
                    .map(file -> of(classes.relativize(file), module)).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static FuzzTarget of(Path file, Path module) {
        String path = file.toString();
        try {
            Class<?> type = Class.forName(path.substring(0, path.length() - ".class".length()).replace('/', '.'));
            return new FuzzTarget(type.getSimpleName(), type, type.getMethod("fuzzerTestOneInput", byte[].class),
                    module.resolve("src/test/fuzz").resolve(type.getSimpleName()));
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(path + " is no fuzz target (see Fuzzes)", e);
        }
    }

    /** The files of its inputs: seeds and what fuzzing has found. */
    List<Path> files() {
        try (Stream<Path> files = Files.list(inputs)) {
            return files.sorted().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void run(byte[] input) throws Throwable {
        try {
            method.invoke(null, (Object) input);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
