package org.udckpt.process.inherit;

import java.util.List;

/**
 * Changes to a process's memory before it forks a certain child.
 *
 * @param there    mappings that it has already
 * @param spans    new mappings, empty
 * @param contents contents to write over the present ones
 */
public record ForkPreparation(List<Span> there, List<Span> spans, List<Content> contents) {
    static final ForkPreparation NOTHING = new ForkPreparation(List.of(), List.of(), List.of());

    public boolean empty() {
        return contents.isEmpty();
    }
}
