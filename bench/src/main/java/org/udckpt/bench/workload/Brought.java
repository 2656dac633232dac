package org.udckpt.bench.workload;

/**
 * A program or an input that the user has and that cannot be shipped.
 *
 * @param word what it is, and what stands for it in a command: <code>{word}</code>
 * @param variable of the environment (or of {@code --path}) that says where it is
 */
public record Brought(String word, String variable) {}
