package org.udckpt.system.disni;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaConnParam;
import com.ibm.disni.verbs.RdmaEventChannel;
import com.ibm.disni.verbs.SVCPollCq;
import com.ibm.disni.verbs.SVCPostRecv;
import com.ibm.disni.verbs.SVCPostSend;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedList;
import java.util.List;
import java.util.Random;

/**
 * Two JVMs with one RC connection through DiSNI and rdma_cm, made in the first incarnation and used until the file
 * "finish" is there: rank 1 writes each round's content into rank 0's memory, tells it by a message, and gets the
 * content back by an RDMA read of what rank 0 has computed from it. Arguments: directory, port, rank. Prints "round N"
 * every 200 rounds, and "PASS N" at the end.
 */
public final class Connections {
    private static final int WORDS = 512;
    private static final int BYTES = WORDS * Long.BYTES;
    private static final int ACCESS =
            IbvMr.IBV_ACCESS_LOCAL_WRITE | IbvMr.IBV_ACCESS_REMOTE_WRITE | IbvMr.IBV_ACCESS_REMOTE_READ;
    private static final long LAST = -1;
    private static final int INBOX = 2 * BYTES;
    private static final int OUTBOX = INBOX + 64;

    /** Two areas of content, then a message received and a message to be sent, of 64 bytes each. */
    private final ByteBuffer memory = ByteBuffer.allocateDirect(OUTBOX + 64).order(ByteOrder.nativeOrder());
    private final RdmaEventChannel events;
    private IbvCompChannel channel;
    private IbvCQ cq;
    private IbvQP qp;
    private IbvMr region;
    private SVCPollCq poll;
    private SVCPostRecv receive;
    private final IbvWC[] completions = {new IbvWC(), new IbvWC()};
    private boolean message;
    private int outstanding;
    private int heardKey;

    private Connections() throws IOException {
        events = RdmaEventChannel.createEventChannel();
    }

    public static void main(String[] arguments) throws Exception {
        Path directory = Path.of(arguments[0]);
        InetSocketAddress address = new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[1]));
        Connections side = new Connections();
        long rounds = arguments[2].equals("0") ? side.serve(address) : side.drive(address, directory.resolve("finish"));
        System.out.println("PASS " + rounds);
    }

    private long serve(InetSocketAddress address) throws Exception {
        RdmaCmId listener = events.createId(RdmaCm.RDMA_PS_TCP);
        listener.bindAddr(address);
        listener.listen(1);
        RdmaCmId id = expect(RdmaCmEvent.EventType.RDMA_CM_EVENT_CONNECT_REQUEST).getConnIdPriv();
        prepare(id);
        id.accept(parameters());
        expect(RdmaCmEvent.EventType.RDMA_CM_EVENT_ESTABLISHED);
        say(region.getAddr(), region.getRkey());
        long rounds = 0;
        while (true) {
            long round = hear();
            if (round == LAST) {
                return rounds;
            }
            rounds++;
            Random content = new Random(round);
            for (int i = 0; i < WORDS; i++) {
                long value = memory.getLong(i * Long.BYTES);
                if (value != content.nextLong()) {
                    throw new IllegalStateException("round " + round + " differs at word " + i);
                }
                memory.putLong(BYTES + i * Long.BYTES, ~value);
            }
            say(round, 0);
        }
    }

    private long drive(InetSocketAddress address, Path finish) throws Exception {
        RdmaCmId id = connect(address);
        long remote = hear();
        int key = heardKey;
        long round = 0;
        for (; !Files.exists(finish); round++) {
            Random content = new Random(round);
            for (int i = 0; i < WORDS; i++) {
                memory.putLong(i * Long.BYTES, content.nextLong());
            }
            transfer(IbvSendWR.IBV_WR_RDMA_WRITE, 0, remote, key);
            say(round, 0);
            if (hear() != round) {
                throw new IllegalStateException("round " + round + " was answered as another");
            }
            transfer(IbvSendWR.IBV_WR_RDMA_READ, BYTES, remote + BYTES, key);
            for (int i = 0; i < WORDS; i++) {
                if (memory.getLong(BYTES + i * Long.BYTES) != ~memory.getLong(i * Long.BYTES)) {
                    throw new IllegalStateException("round " + round + ": what was read differs at word " + i);
                }
            }
            if (round % 200 == 0) {
                System.out.println("round " + round);
            }
        }
        say(LAST, 0);
        id.disconnect();
        return round;
    }

    /** The other side may not listen yet: then the answer is a refusal. */
    private RdmaCmId connect(InetSocketAddress address) throws Exception {
        while (true) {
            RdmaCmId id = events.createId(RdmaCm.RDMA_PS_TCP);
            id.resolveAddr(null, address, 2000);
            expect(RdmaCmEvent.EventType.RDMA_CM_EVENT_ADDR_RESOLVED);
            id.resolveRoute(2000);
            expect(RdmaCmEvent.EventType.RDMA_CM_EVENT_ROUTE_RESOLVED);
            prepare(id);
            id.connect(parameters());
            RdmaCmEvent event = events.getCmEvent(-1);
            event.ackEvent();
            if (event.getEvent() == RdmaCmEvent.EventType.RDMA_CM_EVENT_ESTABLISHED.ordinal()) {
                return id;
            }
            if (event.getEvent() != RdmaCmEvent.EventType.RDMA_CM_EVENT_REJECTED.ordinal()) {
                throw new IllegalStateException("event " + event.getEvent() + " instead of a connection");
            }
            id.destroyQP();
            Thread.sleep(100);
        }
    }

    private static RdmaConnParam parameters() throws IOException {
        RdmaConnParam parameters = new RdmaConnParam();
        parameters.setRetry_count((byte) 7);
        parameters.setRnr_retry_count((byte) 7);
        return parameters;
    }

    private RdmaCmEvent expect(RdmaCmEvent.EventType wanted) throws IOException {
        RdmaCmEvent event = events.getCmEvent(-1);
        if (event.getEvent() != wanted.ordinal()) {
            throw new IllegalStateException("event " + event.getEvent() + " instead of " + wanted);
        }
        event.ackEvent();
        return event;
    }

    private void prepare(RdmaCmId id) throws IOException {
        IbvContext context = id.getVerbs();
        IbvPd pd = context.allocPd();
        channel = context.createCompChannel();
        cq = context.createCQ(channel, 16, 0);
        IbvQPInitAttr attributes = new IbvQPInitAttr();
        attributes.cap().setMax_recv_sge(1);
        attributes.cap().setMax_recv_wr(4);
        attributes.cap().setMax_send_sge(1);
        attributes.cap().setMax_send_wr(4);
        attributes.setQp_type(IbvQP.IBV_QPT_RC);
        attributes.setRecv_cq(cq);
        attributes.setSend_cq(cq);
        qp = id.createQP(pd, attributes);
        region = pd.regMr(memory, ACCESS).execute().free().getMr();
        poll = cq.poll(completions, completions.length);
        IbvRecvWR request = new IbvRecvWR();
        request.setWr_id(1);
        request.setSg_list(element(INBOX, 16));
        request.setNum_sge(1);
        receive = qp.postRecv(List.of(request), null);
        receive.execute();
    }

    private LinkedList<IbvSge> element(int offset, int bytes) {
        IbvSge element = new IbvSge();
        element.setAddr(region.getAddr() + offset);
        element.setLength(bytes);
        element.setLkey(region.getLkey());
        return new LinkedList<>(List.of(element));
    }

    private void say(long word, int key) throws IOException {
        memory.putLong(OUTBOX, word).putInt(OUTBOX + Long.BYTES, key);
        post(IbvSendWR.IBV_WR_SEND, element(OUTBOX, 16), 0, 0);
    }

    private void transfer(int opcode, int offset, long remote, int key) throws IOException {
        post(opcode, element(offset, BYTES), remote, key);
    }

    /** One request, and its completion. */
    private void post(int opcode, LinkedList<IbvSge> elements, long remote, int key) throws IOException {
        IbvSendWR request = new IbvSendWR();
        request.setWr_id(2);
        request.setSg_list(elements);
        request.setNum_sge(1);
        request.setOpcode(opcode);
        request.setSend_flags(IbvSendWR.IBV_SEND_SIGNALED);
        request.getRdma().setRemote_addr(remote);
        request.getRdma().setRkey(key);
        SVCPostSend send = qp.postSend(List.of(request), null);
        outstanding++;
        send.execute().free();
        while (outstanding > 0) {
            harvest();
        }
    }

    /** The first word of the next message. */
    private long hear() throws IOException {
        while (!message) {
            harvest();
            if (!message) {
                cq.reqNotification(false).execute().free();
                harvest(); // what came before the request gives no event
                if (!message && channel.getCqEvent(cq, 50)) {
                    cq.ackEvents(1);
                }
            }
        }
        message = false;
        long word = memory.getLong(INBOX);
        heardKey = memory.getInt(INBOX + Long.BYTES);
        receive.execute();
        return word;
    }

    private void harvest() throws IOException {
        int count = poll.execute().getPolls();
        for (int i = 0; i < count; i++) {
            IbvWC done = completions[i];
            if (done.getStatus() != 0) {
                throw new IllegalStateException("completion " + done.getWr_id() + " with status " + done.getStatus());
            }
            if (done.getWr_id() == 1) {
                message = true;
            } else {
                outstanding--;
            }
        }
    }
}
