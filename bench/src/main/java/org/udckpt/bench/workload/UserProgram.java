package org.udckpt.bench.workload;

import java.util.Optional;

/**
 * A program or an input that the user has and that cannot be shipped.
 *
 * @param word what it is, and what stands for it in a command: <code>{word}</code>
 * @param variable of the environment (or of {@code --path}) that says where it is
 * @param place what the variable says; empty: nobody has said it
 */
public record UserProgram(String word, String variable, Optional<String> place) {}
