package org.udckpt.system.disni;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.SVCPollCq;
import com.ibm.disni.verbs.SVCPostRecv;
import com.ibm.disni.verbs.SVCPostSend;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.LinkedList;
import java.util.List;
import java.util.Random;
import org.udckpt.ud.disni.UdAddressHandle;
import org.udckpt.ud.disni.UdContext;
import org.udckpt.ud.disni.UdQueuePair;

/**
 * Two JVMs that play ping-pong over UD through DiSNI until the file "finish" is there: stop and wait, with a repeat of
 * what may be lost. Each datagram's payload follows from its number and is checked on both sides.
 * Arguments: directory (for the addresses), rank (0 or 1). Prints "round N" every 200 rounds, and "PASS N" at the end.
 */
public final class Datagrams {
    private static final int SLOTS = 16;
    private static final int SLOT_BYTES = 512;
    private static final int PAYLOAD = 256;
    private static final int QKEY = 0x1234;
    private static final int DEPTH = 4;
    private static final long REPEAT_NS = 200_000_000L;
    private static final long LAST = -1;

    private final Path directory;
    private final int rank;
    private final ByteBuffer memory =
            ByteBuffer.allocateDirect((SLOTS + 1) * SLOT_BYTES).order(ByteOrder.nativeOrder());
    private final UdQueuePair qp;
    private final IbvCompChannel channel;
    private final IbvCQ cq;
    private final IbvMr region;
    private final IbvPd pd;
    private final IbvWC[] completions = new IbvWC[SLOTS];
    private final SVCPollCq poll;
    private final SVCPostRecv[] receives = new SVCPostRecv[SLOTS];
    private final LinkedList<Integer> arrived = new LinkedList<>();
    private final int lid;
    private int sendsOutstanding;

    private Datagrams(Path directory, int rank) throws IOException {
        this.directory = directory;
        this.rank = rank;
        UdContext device = UdContext.open(null);
        UdContext.Port port = device.port(1);
        if (port.state() != UdContext.PORT_ACTIVE || port.mtuBytes() < PAYLOAD) {
            throw new IllegalStateException("the port is not ready: " + port);
        }
        lid = port.lid();
        pd = device.allocPd();
        channel = device.createCompChannel();
        cq = device.createCQ(channel, 2 * SLOTS, 0);
        region = pd.regMr(memory, IbvMr.IBV_ACCESS_LOCAL_WRITE).execute().free().getMr();
        qp = UdQueuePair.create(pd, cq, cq, DEPTH, SLOTS, 1, 0).ready(1, 0, QKEY, 0);
        for (int i = 0; i < SLOTS; i++) {
            completions[i] = new IbvWC();
            IbvRecvWR request = new IbvRecvWR();
            request.setWr_id(i);
            request.setSg_list(elements(i, SLOT_BYTES));
            request.setNum_sge(1);
            receives[i] = qp.postRecv(List.of(request), null);
            receives[i].execute();
        }
        poll = cq.poll(completions, SLOTS);
    }

    public static void main(String[] arguments) throws Exception {
        new Datagrams(Path.of(arguments[0]), Integer.parseInt(arguments[1])).play();
    }

    private LinkedList<IbvSge> elements(int slot, int bytes) {
        IbvSge element = new IbvSge();
        element.setAddr(region.getAddr() + slot * SLOT_BYTES);
        element.setLength(bytes);
        element.setLkey(region.getLkey());
        return new LinkedList<>(List.of(element));
    }

    private void play() throws Exception {
        publish();
        int[] peer = peer();
        UdAddressHandle handle = UdAddressHandle.local(pd, 1, peer[0], 0);
        IbvSendWR request = new IbvSendWR();
        request.setWr_id(SLOTS);
        request.setSg_list(elements(SLOTS, PAYLOAD));
        request.setNum_sge(1);
        request.setOpcode(IbvSendWR.IBV_WR_SEND);
        request.setSend_flags(IbvSendWR.IBV_SEND_SIGNALED);
        handle.aim(request, peer[1], QKEY);
        SVCPostSend send = qp.postSend(List.of(request), null);
        long rounds = rank == 0 ? lead(send, peer) : follow(send, peer);
        System.out.println("PASS " + rounds);
    }

    private long lead(SVCPostSend send, int[] peer) throws Exception {
        long round = 0;
        for (; !Files.exists(directory.resolve("finish")); round++) {
            exchange(send, round, peer);
            if (round % 200 == 0) {
                System.out.println("round " + round);
            }
            Thread.sleep(1);
        }
        for (int i = 0; i < 3; i++) { // one of them will get there
            fill(LAST);
            post(send);
            Thread.sleep(50);
        }
        return round;
    }

    private void exchange(SVCPostSend send, long round, int[] peer) throws IOException {
        while (true) {
            fill(round);
            post(send);
            long deadline = System.nanoTime() + REPEAT_NS;
            for (long got; (got = next(peer, deadline)) >= 0;) {
                if (got == round) {
                    return;
                }
            }
        }
    }

    private long follow(SVCPostSend send, int[] peer) throws IOException {
        long rounds = 0;
        while (true) {
            long got = next(peer, Long.MAX_VALUE);
            if (got == LAST) {
                return rounds;
            }
            rounds = Math.max(rounds, got + 1);
            fill(got);
            post(send);
        }
    }

    private void post(SVCPostSend send) throws IOException {
        while (sendsOutstanding == DEPTH) {
            harvest(null);
        }
        sendsOutstanding++;
        send.execute();
    }

    /** The number in the next datagram; {@link #LAST} when the deadline passes first or the leader is done. */
    private long next(int[] peer, long deadline) throws IOException {
        while (arrived.isEmpty()) {
            if (System.nanoTime() - deadline > 0 && deadline != Long.MAX_VALUE) {
                return LAST;
            }
            harvest(peer);
            if (arrived.isEmpty()) {
                cq.reqNotification(false).execute().free();
                harvest(peer); // what came before the request gives no event
                if (arrived.isEmpty() && channel.getCqEvent(cq, 50)) {
                    cq.ackEvents(1);
                }
            }
        }
        int slot = arrived.removeFirst();
        long number = check(slot);
        receives[slot].execute();
        return number;
    }

    private void harvest(int[] peer) throws IOException {
        int count = poll.execute().getPolls();
        for (int i = 0; i < count; i++) {
            IbvWC done = completions[i];
            if (done.getStatus() != 0) {
                throw new IllegalStateException("completion " + done.getWr_id() + " with status " + done.getStatus());
            }
            if (done.getWr_id() == SLOTS) {
                sendsOutstanding--;
                continue;
            }
            if (peer != null && (done.getSrc_qp() != peer[1] || (done.getSlid() & 0xffff) != peer[0])) {
                throw new IllegalStateException("a datagram of LID %d QPN 0x%x, but the peer is LID %d QPN 0x%x"
                        .formatted(done.getSlid() & 0xffff, done.getSrc_qp(), peer[0], peer[1]));
            }
            if (done.getByte_len() != PAYLOAD + UdQueuePair.GRH_BYTES) {
                throw new IllegalStateException("a datagram of " + done.getByte_len() + " bytes");
            }
            arrived.add((int) done.getWr_id());
        }
    }

    private void fill(long number) {
        int at = SLOTS * SLOT_BYTES;
        Random content = new Random(number);
        memory.putLong(at, number);
        for (int i = Long.BYTES; i < PAYLOAD; i += Integer.BYTES) {
            memory.putInt(at + i, content.nextInt());
        }
    }

    private long check(int slot) {
        int at = slot * SLOT_BYTES + UdQueuePair.GRH_BYTES;
        long number = memory.getLong(at);
        Random content = new Random(number);
        for (int i = Long.BYTES; i < PAYLOAD; i += Integer.BYTES) {
            if (memory.getInt(at + i) != content.nextInt()) {
                throw new IllegalStateException("datagram " + number + " differs at byte " + i);
            }
        }
        return number;
    }

    private void publish() throws IOException {
        Path written = Files.writeString(directory.resolve("address-" + rank + ".new"), lid + " " + qp.getQp_num());
        Files.move(written, directory.resolve("address-" + rank), StandardCopyOption.ATOMIC_MOVE);
    }

    private int[] peer() throws Exception {
        Path file = directory.resolve("address-" + (1 - rank));
        while (!Files.exists(file)) {
            Thread.sleep(20);
        }
        String[] words = Files.readString(file).split(" ");
        return new int[]{Integer.parseInt(words[0]), Integer.parseInt(words[1])};
    }
}
