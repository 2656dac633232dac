package org.udckpt.bench.workload;

import java.nio.file.Path;
import java.util.Map;

/**
 * What a description's words in braces stand for here.
 *
 * @param programs where this repository's own MPI programs are: <code>{programs}</code>
 * @param places of what the user brings, by the names of variables of the environment
 */
public record Substitutions(Path programs, Map<String, String> places) {}
