package org.udckpt.ud;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.udckpt.address.Gid;
import org.udckpt.address.VerbsAddress;

/** Ports of rdma_cm: who may bind each, and which listener is found at it. */
class CmDirectoryTest {
    private static final int TCP = 0x106;
    private static final int UDP = 0x111;
    private static final Gid LOOPBACK = new Gid(0, 0x0000ffff7f000001L);
    private static final Gid OTHER = new Gid(0, 0x0000ffff0a000001L);

    private final CmDirectory directory = new CmDirectory();
    private final Object process = new Object();

    @Test
    void portOfAnAddressIsTakenByOne() {
        assertTrue(bind(1, new CmPort(TCP, LOOPBACK, 700), false, true).isPresent());
        assertFalse(bind(2, new CmPort(TCP, LOOPBACK, 700), false, false).isPresent());
        assertFalse(bind(2, new CmPort(TCP, Gid.ZERO, 700), false, false).isPresent(), "any address is this one too");
        assertTrue(bind(2, new CmPort(TCP, OTHER, 700), false, false).isPresent());
        assertTrue(bind(3, new CmPort(UDP, LOOPBACK, 700), false, false).isPresent(), "another port space");
        assertTrue(bind(1, new CmPort(TCP, LOOPBACK, 700), false, true).isPresent(),
                "its owner may say it again, as after a restart");
    }

    /** Only a program that goes on can be replacing its listener, and only for a while. */
    @Test
    void replacedListenerIsExpectedForAWhile() {
        AtomicLong now = new AtomicLong();
        CmDirectory timed = new CmDirectory(now::get);
        CmPort port = new CmPort(TCP, LOOPBACK, 700);
        CmPort any = new CmPort(TCP, Gid.ZERO, 701);
        assertFalse(timed.mayListenSoon(port), "nobody ever listened");
        bind(timed, 1, port, true);
        bind(timed, 2, any, true);
        bind(timed, 3, new CmPort(TCP, LOOPBACK, 702), false);
        timed.unbind(1);
        timed.unbind(2);
        timed.unbind(3);
        assertTrue(timed.mayListenSoon(port));
        assertTrue(timed.mayListenSoon(new CmPort(TCP, OTHER, 701)), "it listened at any address");
        assertTrue(timed.mayListenSoon(new CmPort(UDP, LOOPBACK, 700)), "the next may be of the other port space");
        assertTrue(timed.mayListenSoon(new CmPort(UDP, OTHER, 701)), "of the other port space, at any address");
        assertFalse(timed.mayListenSoon(new CmPort(TCP, OTHER, 700)));
        assertFalse(timed.mayListenSoon(new CmPort(TCP, LOOPBACK, 702)), "a port that was only held");
        now.addAndGet(CmDirectory.REPLACING.toNanos() + 1);
        assertFalse(timed.mayListenSoon(port), "not for ever");
        bind(timed, 4, port, true);
        timed.forget(process);
        assertFalse(timed.mayListenSoon(port), "an ended process does not listen again");
    }

    @Test
    void sharedPortHasOneListener() {
        CmPort port = new CmPort(TCP, Gid.ZERO, 700);
        assertTrue(bind(1, port, true, false).isPresent());
        assertTrue(bind(2, port, true, false).isPresent());
        assertTrue(bind(2, port, true, true).isPresent());
        assertFalse(bind(1, port, true, true).isPresent());
    }

    @Test
    void freePortsAreDifferent() {
        CmPort any = new CmPort(TCP, Gid.ZERO, 0);
        int first = bind(1, any, false, false).orElseThrow().number();
        int second = bind(2, any, false, false).orElseThrow().number();
        assertNotEquals(first, second);
        assertTrue(first >= 49152 && second >= 49152, first + " " + second);
    }

    @Test
    void listenerIsFoundAtItsAddressBeforeOneAtAny() {
        bind(1, new CmPort(TCP, Gid.ZERO, 700), true, true);
        bind(2, new CmPort(TCP, LOOPBACK, 700), true, false);
        assertEquals(Optional.of(service(1)), directory.find(new CmPort(TCP, LOOPBACK, 700)), "2 does not listen");
        assertEquals(Optional.empty(), directory.find(new CmPort(UDP, LOOPBACK, 700)));
        assertTrue(directory.unbind(1));
        assertFalse(directory.unbind(1));
        bind(2, new CmPort(TCP, LOOPBACK, 700), true, true);
        assertEquals(Optional.of(service(2)), directory.find(new CmPort(TCP, LOOPBACK, 700)));
        assertEquals(Optional.empty(), directory.find(new CmPort(TCP, OTHER, 700)));
        directory.forget(process);
        assertEquals(Optional.empty(), directory.find(new CmPort(TCP, LOOPBACK, 700)));
    }

    /** RDMA_OPTION_ID_AFONLY of rdma_set_option(3): a program that listens at one port of each family. */
    @Test
    void familiesThatKeepToThemselvesShareAPort() {
        CmPort six = new CmPort(TCP, Gid.ZERO, 700, true);
        assertTrue(bind(1, new CmPort(TCP, CmPort.ANY_IPV4, 700, true), false, true).isPresent());
        assertFalse(bind(2, new CmPort(TCP, Gid.ZERO, 700), false, true).isPresent(), "it would take IPv4, too");
        assertTrue(bind(2, six, false, true).isPresent());
        assertFalse(bind(3, six, false, true).isPresent());
        assertEquals(Optional.of(service(1)), directory.find(new CmPort(TCP, LOOPBACK, 700)));
        assertEquals(Optional.of(service(2)), directory.find(new CmPort(TCP, new Gid(0, 1), 700)));
        assertTrue(directory.unbind(1));
        assertEquals(Optional.empty(), directory.find(new CmPort(TCP, LOOPBACK, 700)));
        assertTrue(directory.mayListenSoon(new CmPort(TCP, LOOPBACK, 700)));
        assertFalse(directory.mayListenSoon(new CmPort(TCP, new Gid(0, 1), 700)));
    }

    private Optional<CmPort> bind(long owner, CmPort port, boolean reuse, boolean listening) {
        return directory.bind(new Message.CmBind(0, port, owner, service(owner), reuse, listening), process);
    }

    private void bind(CmDirectory where, long owner, CmPort port, boolean listening) {
        assertTrue(
                where.bind(new Message.CmBind(0, port, owner, service(owner), false, listening), process).isPresent());
    }

    private static VerbsAddress service(long owner) {
        return new VerbsAddress((int) owner, Gid.ZERO, 3000 + (int) owner);
    }
}
