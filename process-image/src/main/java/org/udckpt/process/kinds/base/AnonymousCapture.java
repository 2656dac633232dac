package org.udckpt.process.kinds.base;

import org.udckpt.process.model.KernelObject;

/**
 * The capture of descriptors without a name, each of which says all that is known of it: /proc calls all of a kind
 * alike ({@code anon_inode:[timerfd]}).
 */
public final class AnonymousCapture implements KindCapture {
    private final String link;
    private final ObjectTable table;
    private final Reader reader;

    /** Reads one of them. */
    public interface Reader {
        /** Its record, with this id. */
        KernelObject read(OpenDescriptor open, long id);
    }

    /** @param link what readlink(2) says of them in /proc/PID/fd */
    public AnonymousCapture(String link, CaptureScope scope, Reader reader) {
        this.link = link;
        this.table = scope.table();
        this.reader = reader;
    }

    @Override
    public boolean takes(OpenDescriptor open) {
        return open.link().equals(link);
    }

    @Override
    public long read(OpenDescriptor open) {
        long id = table.newId();
        table.add(reader.read(open, id));
        return id;
    }
}
