package org.udckpt.process.kinds.base;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Connections whose other end is in no process of the job: a restart cannot continue them. Either the capture is
 * refused, or the image holds them as closed by the other side; in the running job they stay as they are.
 */
public final class Outside {
    /** Most connections that a refusal names; the others are counted. */
    private static final int NAMED = 8;

    private record Connection(OpenDescriptor open, String what, String otherwise) {
        String text() {
            return open.refuse(what).getMessage();
        }
    }

    private final boolean closes;
    private final List<Connection> found = new ArrayList<>();

    /** @param closes the image holds external connections as closed; else they are refused */
    public Outside(boolean closes) {
        this.closes = closes;
    }

    /**
     * Adds an external connection. {@link #check} refuses it, or it is closed in the image.
     *
     * @param what the connection and its other end
     * @param otherwise what the user can do about it
     */
    public void add(OpenDescriptor open, String what, String otherwise) {
        found.add(new Connection(open, what, otherwise));
    }

    /**
     * Call this when all connections have been added.
     *
     * @throws RuntimeException naming the connections, if there are any and they are not to be closed
     */
    public void check() {
        if (closes || found.isEmpty()) {
            return;
        }
        found.sort(Comparator.<Connection>comparingInt(one -> one.open.process().pid())
                .thenComparingInt(one -> one.open.fd()));
        Connection first = found.getFirst();
        String more = found.stream()
                .skip(1)
                .limit(NAMED - 1)
                .map(one -> "; " + one.text())
                .collect(Collectors.joining());
        String left = found.size() > NAMED ? "; and " + (found.size() - NAMED) + " others" : "";
        String otherwise = found.stream().map(Connection::otherwise).distinct().collect(Collectors.joining("; or "));
        throw first.open.refuse(first.what + more + left + "; " + otherwise + ", or "
                + (found.size() == 1 ? "let the image close it (--external-connections close)"
                        : "let the image close them (--external-connections close)"));
    }

    /** The connections that the image holds as closed, each with its process and descriptor. */
    public List<String> closedConnections() {
        return found.stream().map(Connection::text).toList();
    }
}
