package org.udckpt.ud.disni;

import java.io.IOException;

/** The verbs that DiSNI's dispatcher lacks (native/src/main/c/disni/disni_ud.c). Ids are addresses of verbs objects. */
@SuppressWarnings("restricted") // DiSNI's library is loaded by its name, as DiSNI itself does
final class UdNative {
    static {
        System.loadLibrary("disni");
    }

    private UdNative() {}

    /** @param name of the device, or null for the first one */
    static native long open(String name) throws IOException;

    static native void close(long context) throws IOException;

    static native int descriptor(long context);

    static native int completionVectors(long context);

    /** State, active MTU in bytes, LID, length of the GID table, link layer. */
    static native int[] port(long context, int port) throws IOException;

    static native byte[] gid(long context, int port, int index) throws IOException;

    static native long createQp(long pd, long sendCq, long receiveCq, int sendRequests, int receiveRequests,
            int elements, int inlineBytes)
            throws IOException;

    /** From RESET to RTS. */
    static native void ready(long qp, int port, int pkeyIndex, int qkey, int psn) throws IOException;

    static native int number(long qp);

    static native void destroyQp(long qp) throws IOException;

    /** @param gid 16 bytes, or null for a local destination */
    static native long createAh(long pd, int port, int lid, int serviceLevel, byte[] gid, int gidIndex, int hopLimit)
            throws IOException;

    static native void destroyAh(long ah) throws IOException;
}
