package org.udckpt.process.kinds.base;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Connections whose other end no process of the job has: they cannot go on after a restart. The capture is refused, or
 * the image holds them as connections that the other side has closed; in the running job they stay as they are.
 */
public final class Outside {
    /** Of those that a refusal names; the user wants to see all that is to be closed, not a page. */
    private static final int NAMED = 8;

    private record Connection(OpenDescriptor open, String what, String otherwise) {
        String text() {
            return open.refuse(what).getMessage();
        }
    }

    private final boolean closes;
    private final List<Connection> found = new ArrayList<>();

    /** @param closes connections to others are left out; else they are refused */
    public Outside(boolean closes) {
        this.closes = closes;
    }

    /**
     * A connection to somebody outside; it may be left out, if {@link #check} agrees.
     *
     * @param what the connection and its other end
     * @param otherwise what the user can do about it
     */
    public void cut(OpenDescriptor open, String what, String otherwise) {
        found.add(new Connection(open, what, otherwise));
    }

    /**
     * To be called when all are known.
     *
     * @throws RuntimeException naming them, when there are any and they are not to be closed
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

    /** What was left out, each with its process and descriptor. */
    public List<String> cut() {
        return found.stream().map(Connection::text).toList();
    }
}
