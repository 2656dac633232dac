package org.udckpt.process.capture;

import org.udckpt.process.cuda.NvidiaNodes;
import org.udckpt.process.kinds.iouring.IoUring;

/** Refuses memory that is not plain: devices and kernel rings. */
final class MappingCheck {
    /** What the kernel calls memory of memfd_secret(2). */
    static final String SECRET = "/secretmem";

    private MappingCheck() {}

    static void refuse(TracedProcess process) {
        for (Mapping mapping : process.mappings) {
            String path = mapping.path();
            if (process.owns(mapping)) {
                continue;
            }
            if (path.startsWith("/dev/infiniband/")) {
                throw process.refuse(path
                        + " is mapped behind the library; only verbs that go through libibverbs can be checkpointed");
            }
            if (NvidiaNodes.has(path)) {
                throw process.refuse(NvidiaNodes.refusal(path, "mapped"));
            }
            if (path.startsWith(SECRET)) {
                throw process.refuse("memory of memfd_secret(2) at 0x" + Long.toHexString(mapping.start())
                        + " cannot be read from outside, so it cannot be checkpointed");
            }
            boolean plainDevice =
                    path.equals("/dev/zero") || path.startsWith("/dev/shm/") || path.startsWith("/dev/hugepages/");
            if (path.startsWith("/dev/") && !plainDevice || path.startsWith("anon_inode:") && !path.equals(IoUring.LINK)
                    || path.startsWith("socket:")) {
                throw process.refuse("mapped memory of " + path + " at 0x" + Long.toHexString(mapping.start())
                        + " cannot be checkpointed; unmap it first");
            }
        }
    }
}
