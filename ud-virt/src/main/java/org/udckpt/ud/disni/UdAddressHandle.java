package org.udckpt.ud.disni;

import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.impl.NatIbvPd;
import java.io.IOException;

/** Where datagrams go: ibv_create_ah(3). */
public final class UdAddressHandle implements AutoCloseable {
    private long id;

    private UdAddressHandle(long id) {
        this.id = id;
    }

    /** A port of the same subnet. @param port the local one, from 1; @param lid of the remote one */
    public static UdAddressHandle local(IbvPd pd, int port, int lid, int serviceLevel) throws IOException {
        return new UdAddressHandle(UdNative.createAh(open(pd), port, lid, serviceLevel, null, 0, 0));
    }

    /**
     * A port by its GID, with a Global Routing Header.
     *
     * @param gid 16 bytes;
     * @param gidIndex of the source, in the local port's table
     */
    public static UdAddressHandle global(IbvPd pd, int port, int lid, int serviceLevel, byte[] gid, int gidIndex,
            int hopLimit) throws IOException {
        return new UdAddressHandle(
                UdNative.createAh(open(pd), port, lid, serviceLevel, gid.clone(), gidIndex, hopLimit));
    }

    private static long open(IbvPd pd) throws IOException {
        if (!pd.isOpen()) {
            throw new IOException("ibv_create_ah: the PD is closed");
        }
        return ((NatIbvPd) pd).getObjId();
    }

    /**
     * Points a send work request here. DiSNI writes only the RDMA half of the union that a work request ends with; the
     * UD half lies on the same 16 bytes ({@code struct ibv_send_wr}: ah on remote_addr, remote_qpn on rkey, remote_qkey
     * on the word after it).
     */
    public void aim(IbvSendWR request, int queuePair, int qkey) throws IOException {
        if (id == 0) {
            throw new IOException("the address handle is destroyed");
        }
        request.getRdma().setRemote_addr(id);
        request.getRdma().setRkey(queuePair);
        request.getRdma().setReserved(qkey);
    }

    @Override
    public void close() throws IOException {
        if (id != 0) {
            long gone = id;
            id = 0;
            UdNative.destroyAh(gone);
        }
    }
}
