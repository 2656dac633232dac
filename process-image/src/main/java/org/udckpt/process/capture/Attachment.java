package org.udckpt.process.capture;

import org.udckpt.layout.Layout;

/**
 * What the library in a stopped process says of itself (struct udckpt_attachment of udckpt.layout). It decides which
 * processes must have been gated: a process that has opened no verbs device need not be, and may come and go as it
 * likes.
 */
final class Attachment {
    private static final String SYMBOL = "udckpt_attachment";

    private Attachment() {}

    /**
     * Finds what the library holds in the process, or that it holds nothing.
     *
     * @param told by the caller; null: it knows nothing of the process. Without a control descriptor it is not about a
     *     connection
     * @throws CaptureFailed the process opened its first device after the gates were closed
     * @throws CaptureRefused it has a device and no agent
     */
    static CaptureRequest.Library check(TracedProcess process, CaptureRequest.Library told) {
        boolean connected = told != null && told.controlDescriptor() != CaptureRequest.NONE;
        return switch (state(process)) {
            // what the agent may know of this pid was before it executed another program
            case Layout.ATTACH_NONE -> connected ? null : told;
            case Layout.ATTACH_BEGUN, Layout.ATTACH_OPEN -> throw new CaptureFailed(process
                    + " is opening its first verbs device");
            case Layout.ATTACH_GATED -> {
                if (!connected) {
                    throw new CaptureFailed(
                            process + " was held by an earlier checkpoint (gated), and has lost its agent since");
                }
                yield told;
            }
            case Layout.ATTACH_LOST -> throw process
                    .refuse("its library has lost the connection to the agent (its message is on standard error above);"
                            + " the program may have closed descriptors that it did not open");
            default -> throw process.refuse("its library is in a state unknown to this agent; start the job again "
                    + "with `udckpt run`");
        };
    }

    private static int state(TracedProcess process) {
        PreloadedLibrary library = PreloadedLibrary.find(process);
        if (library == null) {
            return Layout.ATTACH_NONE;
        }
        long address = library.address(SYMBOL);
        Mapping data = library.mapping(address, Layout.Attachment.SIZE);
        if (data == null || !data.writable()) {
            return Layout.ATTACH_NONE; // not mapped by the dynamic linker yet: nothing of the library has run
        }
        if (process.memory.readLong(address + Layout.Attachment.MAGIC) != Layout.ATTACHMENT_MAGIC) {
            throw process.refuse(
                    library.path() + " is not the library of this agent; start the job again with `udckpt run`");
        }
        long stateAndPid = process.memory.readLong(address + Layout.Attachment.STATE);
        int owner = (int) (stateAndPid >>> 32);
        // forked: the record is its parent's
        return owner == process.ownPid() ? (int) stateAndPid : Layout.ATTACH_NONE;
    }
}
