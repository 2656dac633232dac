package org.udckpt.ud.disni;

import com.ibm.disni.verbs.impl.NatIbvContext;
import java.io.IOException;

/** A verbs device that was opened by its name, where DiSNI itself gets its contexts from connections. */
public final class UdContext extends NatIbvContext implements AutoCloseable {
    /** The link layer of an InfiniBand port: ibv_query_port(3). */
    public static final int LINK_LAYER_INFINIBAND = 1;
    public static final int LINK_LAYER_ETHERNET = 2;
    /** State of a port that carries data. */
    public static final int PORT_ACTIVE = 4;

    /**
     * A port as ibv_query_port(3) shows it.
     *
     * @param mtuBytes the largest payload of a datagram; @param gids length of the GID table
     */
    public record Port(int state, int mtuBytes, int lid, int gids, int linkLayer) {}

    private UdContext(long id) throws IOException {
        super(id, null); // what DiSNI's dispatcher would be asked for is overridden below
    }

    /**
     * Opens a device.
     *
     * @param device its name, or null for the first one
     * @throws IOException there is no such device, or it cannot be opened
     */
    public static UdContext open(String device) throws IOException {
        return new UdContext(UdNative.open(device));
    }

    /** @param port from 1 */
    public Port port(int port) throws IOException {
        int[] numbers = UdNative.port(id(), port);
        return new Port(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]);
    }

    /** The 16 bytes of a GID of a port. */
    public byte[] gid(int port, int index) throws IOException {
        return UdNative.gid(id(), port, index);
    }

    @Override
    public int getCmd_fd() throws IOException {
        return UdNative.descriptor(id());
    }

    @Override
    public int getNumCompVectors() throws IOException {
        return UdNative.completionVectors(id());
    }

    /** Closes the device, whose objects must be gone. @throws IOException some of them are not */
    @Override
    public void close() {
        if (isOpen) {
            super.close();
            try {
                UdNative.close(getObjId());
            } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        }
    }

    private long id() throws IOException {
        if (!isOpen) {
            throw new IOException("the device is closed");
        }
        return getObjId();
    }
}
