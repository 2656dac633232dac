package org.udckpt.process.inherit;

import java.util.List;

/**
 * What a process gets before it forks a certain child.
 *
 * @param there    mappings that it has inherited or got before
 * @param spans    new mappings, empty
 * @param contents to be written, in the place of what is there
 */
public record Staging(List<Span> there, List<Span> spans, List<Content> contents) {
    static final Staging NOTHING = new Staging(List.of(), List.of(), List.of());

    public boolean empty() {
        return contents.isEmpty();
    }
}
