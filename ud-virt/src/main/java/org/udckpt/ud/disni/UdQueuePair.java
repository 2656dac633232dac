package org.udckpt.ud.disni;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.impl.NatIbvCQ;
import com.ibm.disni.verbs.impl.NatIbvPd;
import com.ibm.disni.verbs.impl.NatIbvQP;
import java.io.IOException;
import java.io.UncheckedIOException;

/** A UD queue pair, for DiSNI's {@code postSend} and {@code postRecv}. */
public final class UdQueuePair extends NatIbvQP implements AutoCloseable {
    /** Bytes that a receive buffer must hold before the payload: the Global Routing Header's room. */
    public static final int GRH_BYTES = 40;

    private UdQueuePair(long id) throws IOException {
        super(id, null);
    }

    /**
     * Makes a queue pair in state RESET; it is of use after {@link #ready}.
     *
     * @param sendRequests work requests that may be outstanding, likewise {@code receiveRequests}
     * @param elements scatter/gather elements of each
     * @param inlineBytes payload of an inline send
     */
    public static UdQueuePair create(IbvPd pd, IbvCQ sendCq, IbvCQ receiveCq, int sendRequests, int receiveRequests,
            int elements, int inlineBytes)
            throws IOException {
        if (!pd.isOpen() || !sendCq.isOpen() || !receiveCq.isOpen()) {
            throw new IOException("ibv_create_qp: the PD or a CQ is closed");
        }
        return new UdQueuePair(UdNative.createQp(((NatIbvPd) pd).getObjId(), ((NatIbvCQ) sendCq).getObjId(),
                ((NatIbvCQ) receiveCq).getObjId(),
                sendRequests, receiveRequests, elements, inlineBytes));
    }

    /**
     * Takes the queue pair from RESET to RTS.
     *
     * @param qkey that datagrams to it must carry;
     * @param psn of the first datagram, 24 bits
     */
    public UdQueuePair ready(int port, int pkeyIndex, int qkey, int psn) throws IOException {
        UdNative.ready(id(), port, pkeyIndex, qkey, psn);
        return this;
    }

    @Override
    public int getQp_num() throws IOException {
        return UdNative.number(id());
    }

    /** Destroys it; work requests that are outstanding are lost, as ibv_destroy_qp(3) says. */
    @Override
    public void close() {
        if (isOpen) {
            super.close();
            try {
                UdNative.destroyQp(getObjId());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private long id() throws IOException {
        if (!isOpen) {
            throw new IOException("the queue pair is destroyed");
        }
        return getObjId();
    }
}
