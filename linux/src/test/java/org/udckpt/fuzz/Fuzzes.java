package org.udckpt.fuzz;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a fuzz target, a class called {@code *Fuzz} with a method
 * {@code public static void fuzzerTestOneInput(byte[] input)}: it hands the input to a parser by the entry that others
 * use, and lets through what the parser may not throw. Jazzer runs it ({@code ./udckpt test fuzz}), {@link FuzzInputs}
 * replays its inputs among the plain tests (docs/contributing/testing.md, "Fuzzing").
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface Fuzzes {
    /** The parsers. */
    Class<?>[] value();
}
