package org.udckpt.agent;

import java.util.ArrayDeque;
import java.util.Deque;
import org.udckpt.support.report.Messages;

/** Closes what was opened, the last first; one that fails is reported and does not keep the others open. */
final class Closers implements AutoCloseable {
    private final Deque<AutoCloseable> open = new ArrayDeque<>();

    <T extends AutoCloseable> T add(T resource) {
        open.push(resource);
        return resource;
    }

    @Override
    public void close() {
        while (!open.isEmpty()) {
            try {
                open.pop().close();
            } catch (Exception e) {
                Messages.error("while ending the job: " + e.getMessage(), e);
            }
        }
    }
}
