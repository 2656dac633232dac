package org.udckpt.ud;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.udckpt.address.Gid;
import org.udckpt.address.Transport;
import org.udckpt.address.VerbsAddress;
import org.udckpt.layout.Layout;
import org.udckpt.layout.Layout.MessageHeader;
import org.udckpt.layout.Layout.MsgCmBind;
import org.udckpt.layout.Layout.MsgHello;
import org.udckpt.layout.Layout.MsgHost;
import org.udckpt.layout.Layout.MsgIdentify;
import org.udckpt.layout.Layout.MsgKey;
import org.udckpt.layout.Layout.MsgLocated;
import org.udckpt.layout.Layout.MsgPlain;
import org.udckpt.layout.Layout.MsgQuiesced;
import org.udckpt.layout.Layout.MsgRebuild;
import org.udckpt.layout.Layout.MsgRebuilt;
import org.udckpt.layout.Layout.MsgRegister;
import org.udckpt.layout.Layout.MsgResolve;

/** Messages to bytes and back. Encodings are little-endian, as the library's structs are. */
final class MessageCodec {
    private MessageCodec() {}

    /** The whole message, ready to be written. */
    static ByteBuffer encode(Message message) {
        return switch (message) {
            case Message.Identify m -> header(MsgIdentify.SIZE, Layout.MSG_IDENTIFY, m.cookie())
                    .putLong(MsgIdentify.LAYOUT_HASH, m.layoutHash()).putInt(MsgIdentify.GENERATION, m.generation());
            case Message.Hello m -> header(MsgHello.SIZE, Layout.MSG_HELLO, m.cookie())
                    .putLong(MsgHello.LAYOUT_HASH, m.layoutHash()).putInt(MsgHello.TREE, m.tree())
                    .putInt(MsgHello.PID, m.pid()).putInt(MsgHello.ROLE, m.role()).putInt(MsgHello.FD, m.fd())
                    .putInt(MsgHello.GENERATION, m.generation()).putInt(MsgHello.RANK, m.rank())
                    .putInt(MsgHello.MPI_RANK, m.mpiRank());
            case Message.Quiesce m -> plain(Layout.MSG_QUIESCE, m.cookie(), 0, 0);
            case Message.Quiesced m -> quiesced(m);
            case Message.Settle m -> plain(Layout.MSG_SETTLE, m.cookie(), 0, 0);
            case Message.Settled m -> plain(Layout.MSG_SETTLED, m.cookie(), m.status(), m.waiting());
            case Message.Drain m -> plain(Layout.MSG_DRAIN, m.cookie(), 0, 0);
            case Message.Drained m -> plain(Layout.MSG_DRAINED, m.cookie(), m.status(), m.completions());
            case Message.Resume m -> plain(Layout.MSG_RESUME, m.cookie(), 0, 0);
            case Message.Resumed m -> plain(Layout.MSG_RESUMED, m.cookie(), m.status(), 0);
            case Message.Rebuild m -> rebuild(m);
            case Message.Rebuilt m -> rebuilt(Layout.MSG_REBUILT, m.cookie(), m.status(), m.error());
            case Message.Connect m -> plain(Layout.MSG_CONNECT, m.cookie(), 0, 0);
            case Message.Connected m -> rebuilt(Layout.MSG_CONNECTED, m.cookie(), m.status(), m.error());
            case Message.Locate m -> plain(Layout.MSG_LOCATE, m.cookie(), 0, 0);
            case Message.Located m -> header(MsgLocated.SIZE, Layout.MSG_LOCATED, m.cookie())
                    .putInt(MsgLocated.STATUS, m.status())
                    .putInt(MsgLocated.QPN_FIRST, m.qpnFirst()).putInt(MsgLocated.QPN_LAST, m.qpnLast())
                    .putShort(MsgLocated.REAL_LID, (short) m.realLid())
                    .putShort(MsgLocated.REAL_LIDS, (short) m.realLids()).putInt(MsgLocated.RANK, m.rank());
            case Message.Register m -> register(Layout.MSG_REGISTER, m.cookie(), 0, m.virtualQpn(), m.virtual(),
                    m.real())
                    .putInt(MsgRegister.TRANSPORT, m.transport().code());
            case Message.Registered m -> header(MsgRegister.SIZE, Layout.MSG_REGISTERED, m.cookie())
                    .putInt(MsgRegister.STATUS, m.status()).putInt(MsgRegister.VIRTUAL_QPN, m.virtualQpn());
            case Message.Unregister m -> register(Layout.MSG_UNREGISTER, m.cookie(), 0, m.virtual().qpn(), m.virtual(),
                    m.virtual());
            case Message.Unregistered m -> plain(Layout.MSG_UNREGISTERED, m.cookie(), m.status(), 0);
            case Message.Resolve m -> header(MsgResolve.SIZE, Layout.MSG_RESOLVE, m.cookie())
                    .putInt(MsgResolve.REVERSE, m.reverse() ? 1 : 0).putInt(MsgResolve.QPN, m.address().qpn())
                    .putShort(MsgResolve.LID, (short) m.address().lid()).put(MsgResolve.GID, m.address().gid().bytes());
            case Message.Host m -> host(Layout.MSG_HOST, m.cookie(), m.reverse(), m.number(), m.gids());
            case Message.FindHost m -> host(Layout.MSG_FIND_HOST, m.cookie(), m.reverse(), 0, List.of(m.gid()));
            case Message.Hosted m -> plain(Layout.MSG_HOSTED, m.cookie(), m.status(), m.number());
            case Message.PeerKeys m -> key(Layout.MSG_PEER_KEYS, m.cookie(), 0, m.rank(), 0, 0);
            case Message.TellKey m -> key(Layout.MSG_TELL_KEY, m.cookie(), 0, m.rank(), m.virtualKey(), m.realKey());
            case Message.FindKey m -> key(Layout.MSG_FIND_KEY, m.cookie(), 0, m.rank(), m.virtualKey(), 0);
            case Message.Keyed m -> key(Layout.MSG_KEYED, m.cookie(), m.status(), 0, 0, m.realKey());
            case Message.Resolved m -> header(MsgResolve.SIZE, Layout.MSG_RESOLVED, m.cookie())
                    .putInt(MsgResolve.STATUS, m.status());
            case Message.CmBind m -> cm(Layout.MSG_CM_BIND, m.cookie(), m.port(), m.service())
                    .putLong(MsgCmBind.OWNER, m.owner())
                    .put(MsgCmBind.REUSE, (byte) (m.reuse() ? 1 : 0))
                    .put(MsgCmBind.LISTENING, (byte) (m.listening() ? 1 : 0));
            case Message.CmBound m -> plain(Layout.MSG_CM_BOUND, m.cookie(), m.status(), m.port());
            case Message.CmUnbind m -> cm(Layout.MSG_CM_UNBIND, m.cookie(), m.port(), NOWHERE).putLong(MsgCmBind.OWNER,
                    m.owner());
            case Message.CmUnbound m -> plain(Layout.MSG_CM_UNBOUND, m.cookie(), m.status(), 0);
            case Message.CmFind m -> cm(Layout.MSG_CM_FIND, m.cookie(), m.port(), NOWHERE);
            case Message.CmFound m -> header(MsgCmBind.SIZE, Layout.MSG_CM_FOUND, m.cookie())
                    .putInt(MsgCmBind.STATUS, m.status())
                    .putInt(MsgCmBind.QPN, m.service().qpn()).putShort(MsgCmBind.LID, (short) m.service().lid())
                    .put(MsgCmBind.GID, m.service().gid().bytes());
        };
    }

    private static final VerbsAddress NOWHERE = new VerbsAddress(0, Gid.ZERO, 0);

    private static ByteBuffer key(int type, long cookie, int status, int rank, int virtualKey, int realKey) {
        return header(MsgKey.SIZE, type, cookie).putInt(MsgKey.STATUS, status).putInt(MsgKey.RANK, rank)
                .putInt(MsgKey.VIRTUAL_KEY, virtualKey)
                .putInt(MsgKey.REAL_KEY, realKey);
    }

    private static ByteBuffer cm(int type, long cookie, CmPort port, VerbsAddress service) {
        return header(MsgCmBind.SIZE, type, cookie).putInt(MsgCmBind.PORT_SPACE, port.space())
                .putShort(MsgCmBind.PORT, (short) port.number())
                .put(MsgCmBind.IP, port.ip().bytes()).put(MsgCmBind.FAMILY_ONLY, (byte) (port.familyOnly() ? 1 : 0))
                .putInt(MsgCmBind.QPN, service.qpn())
                .putShort(MsgCmBind.LID, (short) service.lid())
                .put(MsgCmBind.GID, service.gid().bytes());
    }

    private static CmPort port(ByteBuffer b) throws IOException {
        sized(b, MsgCmBind.SIZE);
        return new CmPort(b.getInt(MsgCmBind.PORT_SPACE), Gid.read(b.array(), MsgCmBind.IP),
                b.getShort(MsgCmBind.PORT) & 0xffff, b.get(MsgCmBind.FAMILY_ONLY) != 0);
    }

    private static VerbsAddress service(ByteBuffer b) {
        return address(b, MsgCmBind.LID, MsgCmBind.GID, MsgCmBind.QPN);
    }

    /**
     * @param bytes one whole message, position 0, with its header.
     * @throws IOException if it is not one that this build knows
     */
    static Message decode(ByteBuffer bytes) throws IOException {
        ByteBuffer b = bytes.order(ByteOrder.LITTLE_ENDIAN);
        try {
            return message(b);
        } catch (IllegalArgumentException e) { // of a record whose values are no LID, QPN, ...
            throw new IOException("message of type " + b.getInt(MessageHeader.TYPE) + ": " + e.getMessage(), e);
        }
    }

    private static Message message(ByteBuffer b) throws IOException {
        long cookie = b.getLong(MessageHeader.COOKIE);
        int type = b.getInt(MessageHeader.TYPE);
        return switch (type) {
            case Layout.MSG_IDENTIFY -> new Message.Identify(cookie,
                    sized(b, MsgIdentify.SIZE).getLong(MsgIdentify.LAYOUT_HASH),
                    b.getInt(MsgIdentify.GENERATION));
            case Layout.MSG_HELLO -> new Message.Hello(cookie, sized(b, MsgHello.SIZE).getLong(MsgHello.LAYOUT_HASH),
                    b.getInt(MsgHello.TREE),
                    b.getInt(MsgHello.PID), b.getInt(MsgHello.ROLE), b.getInt(MsgHello.FD),
                    b.getInt(MsgHello.GENERATION),
                    b.getInt(MsgHello.RANK), b.getInt(MsgHello.MPI_RANK));
            case Layout.MSG_QUIESCE -> new Message.Quiesce(cookie);
            case Layout.MSG_QUIESCED -> quiesced(cookie, b);
            case Layout.MSG_SETTLE -> new Message.Settle(cookie);
            case Layout.MSG_SETTLED -> new Message.Settled(cookie, sized(b, MsgPlain.SIZE).getInt(MsgPlain.STATUS),
                    b.getInt(MsgPlain.VALUE));
            case Layout.MSG_DRAIN -> new Message.Drain(cookie);
            case Layout.MSG_DRAINED -> new Message.Drained(cookie, sized(b, MsgPlain.SIZE).getInt(MsgPlain.STATUS),
                    b.getInt(MsgPlain.VALUE));
            case Layout.MSG_RESUME -> new Message.Resume(cookie);
            case Layout.MSG_RESUMED -> new Message.Resumed(cookie, sized(b, MsgPlain.SIZE).getInt(MsgPlain.STATUS));
            case Layout.MSG_REBUILD -> rebuild(cookie, sized(b, MsgRebuild.SIZE));
            case Layout.MSG_REBUILT -> new Message.Rebuilt(cookie, sized(b, MsgRebuilt.SIZE).getInt(MsgRebuilt.STATUS),
                    text(b, MsgRebuilt.ERROR, MsgRebuilt.ERROR_BYTES));
            case Layout.MSG_CONNECT -> new Message.Connect(cookie);
            case Layout.MSG_CONNECTED -> new Message.Connected(cookie,
                    sized(b, MsgRebuilt.SIZE).getInt(MsgRebuilt.STATUS),
                    text(b, MsgRebuilt.ERROR, MsgRebuilt.ERROR_BYTES));
            case Layout.MSG_LOCATE -> new Message.Locate(cookie);
            case Layout.MSG_LOCATED -> new Message.Located(cookie, sized(b, MsgLocated.SIZE).getInt(MsgLocated.STATUS),
                    b.getShort(MsgLocated.REAL_LID) & 0xffff, b.getShort(MsgLocated.REAL_LIDS) & 0xffff,
                    b.getInt(MsgLocated.QPN_FIRST), b.getInt(MsgLocated.QPN_LAST),
                    b.getInt(MsgLocated.RANK));
            case Layout.MSG_REGISTER -> new Message.Register(cookie,
                    sized(b, MsgRegister.SIZE).getInt(MsgRegister.VIRTUAL_QPN),
                    address(b, MsgRegister.VIRTUAL_LID, MsgRegister.VIRTUAL_GID, MsgRegister.VIRTUAL_QPN),
                    address(b, MsgRegister.REAL_LID, MsgRegister.REAL_GID, MsgRegister.REAL_QPN),
                    transport(b.getInt(MsgRegister.TRANSPORT)));
            case Layout.MSG_REGISTERED -> new Message.Registered(cookie,
                    sized(b, MsgRegister.SIZE).getInt(MsgRegister.STATUS),
                    b.getInt(MsgRegister.VIRTUAL_QPN));
            case Layout.MSG_UNREGISTER -> new Message.Unregister(cookie,
                    address(sized(b, MsgRegister.SIZE), MsgRegister.VIRTUAL_LID, MsgRegister.VIRTUAL_GID,
                            MsgRegister.VIRTUAL_QPN));
            case Layout.MSG_UNREGISTERED -> new Message.Unregistered(cookie,
                    sized(b, MsgPlain.SIZE).getInt(MsgPlain.STATUS));
            case Layout.MSG_RESOLVE -> new Message.Resolve(cookie,
                    sized(b, MsgResolve.SIZE).getInt(MsgResolve.REVERSE) != 0,
                    address(b, MsgResolve.LID, MsgResolve.GID, MsgResolve.QPN));
            case Layout.MSG_RESOLVED -> new Message.Resolved(cookie,
                    sized(b, MsgResolve.SIZE).getInt(MsgResolve.STATUS));
            case Layout.MSG_HOST -> new Message.Host(cookie, sized(b, MsgHost.SIZE).getInt(MsgHost.REVERSE) != 0,
                    b.getShort(MsgHost.NUMBER) & 0xffff, gids(b));
            case Layout.MSG_FIND_HOST -> new Message.FindHost(cookie,
                    sized(b, MsgHost.SIZE).getInt(MsgHost.REVERSE) != 0,
                    Gid.read(b.array(), MsgHost.GIDS));
            case Layout.MSG_HOSTED -> new Message.Hosted(cookie, sized(b, MsgPlain.SIZE).getInt(MsgPlain.STATUS),
                    b.getInt(MsgPlain.VALUE));
            case Layout.MSG_PEER_KEYS -> new Message.PeerKeys(cookie, sized(b, MsgKey.SIZE).getInt(MsgKey.RANK));
            case Layout.MSG_TELL_KEY -> new Message.TellKey(cookie, sized(b, MsgKey.SIZE).getInt(MsgKey.RANK),
                    b.getInt(MsgKey.VIRTUAL_KEY), b.getInt(MsgKey.REAL_KEY));
            case Layout.MSG_FIND_KEY -> new Message.FindKey(cookie, sized(b, MsgKey.SIZE).getInt(MsgKey.RANK),
                    b.getInt(MsgKey.VIRTUAL_KEY));
            case Layout.MSG_KEYED -> new Message.Keyed(cookie, sized(b, MsgKey.SIZE).getInt(MsgKey.STATUS),
                    b.getInt(MsgKey.REAL_KEY));
            case Layout.MSG_CM_BIND -> new Message.CmBind(cookie, port(b), b.getLong(MsgCmBind.OWNER), service(b),
                    b.get(MsgCmBind.REUSE) != 0,
                    b.get(MsgCmBind.LISTENING) != 0);
            case Layout.MSG_CM_BOUND -> new Message.CmBound(cookie, sized(b, MsgPlain.SIZE).getInt(MsgPlain.STATUS),
                    b.getInt(MsgPlain.VALUE));
            case Layout.MSG_CM_UNBIND -> new Message.CmUnbind(cookie, port(b), b.getLong(MsgCmBind.OWNER));
            case Layout.MSG_CM_UNBOUND -> new Message.CmUnbound(cookie,
                    sized(b, MsgPlain.SIZE).getInt(MsgPlain.STATUS));
            case Layout.MSG_CM_FIND -> new Message.CmFind(cookie, port(b));
            case Layout.MSG_CM_FOUND -> new Message.CmFound(cookie, sized(b, MsgCmBind.SIZE).getInt(MsgCmBind.STATUS),
                    service(b));
            default -> throw new IOException("message of unknown type " + type + " and " + b.limit() + " bytes");
        };
    }

    private static ByteBuffer header(int length, int type, long cookie) {
        return ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN).putInt(MessageHeader.LENGTH, length)
                .putInt(MessageHeader.TYPE, type).putLong(MessageHeader.COOKIE, cookie);
    }

    private static ByteBuffer plain(int type, long cookie, int status, int value) {
        return header(MsgPlain.SIZE, type, cookie).putInt(MsgPlain.STATUS, status).putInt(MsgPlain.VALUE, value);
    }

    private static ByteBuffer rebuilt(int type, long cookie, int status, String error) {
        return text(header(MsgRebuilt.SIZE, type, cookie).putInt(MsgRebuilt.STATUS, status), MsgRebuilt.ERROR,
                MsgRebuilt.ERROR_BYTES, error);
    }

    private static ByteBuffer host(int type, long cookie, boolean reverse, int number, List<Gid> gids) {
        ByteBuffer b = header(MsgHost.SIZE, type, cookie).putInt(MsgHost.REVERSE, reverse ? 1 : 0)
                .putShort(MsgHost.NUMBER, (short) number).putShort(MsgHost.COUNT, (short) gids.size());
        for (int i = 0; i < gids.size(); i++) {
            b.put(MsgHost.GIDS + i * Gid.BYTES, gids.get(i).bytes());
        }
        return b;
    }

    private static List<Gid> gids(ByteBuffer b) throws IOException {
        int count = b.getShort(MsgHost.COUNT);
        if (count < 0 || count > Layout.HOST_GIDS) {
            throw new IOException("HOST with " + count + " GIDs");
        }
        return IntStream.range(0, count).mapToObj(i -> Gid.read(b.array(), MsgHost.GIDS + i * Gid.BYTES)).toList();
    }

    private static Transport transport(int code) throws IOException {
        try {
            return Transport.of(code);
        } catch (IllegalArgumentException e) {
            throw new IOException("REGISTER: " + e.getMessage(), e);
        }
    }

    private static ByteBuffer register(int type, long cookie, int status, int virtualQpn, VerbsAddress virtual,
            VerbsAddress real) {
        return header(MsgRegister.SIZE, type, cookie).putInt(MsgRegister.STATUS, status)
                .putInt(MsgRegister.VIRTUAL_QPN, virtualQpn).putInt(MsgRegister.REAL_QPN, real.qpn())
                .putShort(MsgRegister.VIRTUAL_LID, (short) virtual.lid())
                .putShort(MsgRegister.REAL_LID, (short) real.lid())
                .put(MsgRegister.VIRTUAL_GID, virtual.gid().bytes()).put(MsgRegister.REAL_GID, real.gid().bytes());
    }

    private static ByteBuffer rebuild(Message.Rebuild m) {
        ByteBuffer b =
                header(MsgRebuild.SIZE, Layout.MSG_REBUILD, m.cookie()).putInt(MsgRebuild.GENERATION, m.generation())
                        .putShort(MsgRebuild.REAL_LID, (short) m.realLid())
                        .putShort(MsgRebuild.REAL_LIDS, (short) m.realLids()).putInt(MsgRebuild.QPN_FIRST, m.qpnFirst())
                        .putInt(MsgRebuild.QPN_LAST, m.qpnLast()).putLong(MsgRebuild.DOWNTIME_NS, m.downtimeNs())
                        .put(MsgRebuild.REAL_GID, m.realGid().bytes());
        text(b, MsgRebuild.DEVICE, MsgRebuild.DEVICE_BYTES, m.device());
        return text(b, MsgRebuild.RUNTIME_DIR, MsgRebuild.RUNTIME_DIR_BYTES, m.runtimeDir());
    }

    private static Message rebuild(long cookie, ByteBuffer b) {
        return new Message.Rebuild(cookie, b.getInt(MsgRebuild.GENERATION), b.getShort(MsgRebuild.REAL_LID) & 0xffff,
                b.getShort(MsgRebuild.REAL_LIDS) & 0xffff,
                b.getInt(MsgRebuild.QPN_FIRST), b.getInt(MsgRebuild.QPN_LAST), b.getLong(MsgRebuild.DOWNTIME_NS),
                Gid.read(b.array(), MsgRebuild.REAL_GID), text(b, MsgRebuild.DEVICE, MsgRebuild.DEVICE_BYTES),
                text(b, MsgRebuild.RUNTIME_DIR, MsgRebuild.RUNTIME_DIR_BYTES));
    }

    private static ByteBuffer quiesced(Message.Quiesced m) {
        int descriptorBytes = (m.descriptors().size() * 4 + 7) & ~7;
        ByteBuffer b =
                header(MsgQuiesced.SIZE + descriptorBytes + m.ranges().size() * 16, Layout.MSG_QUIESCED, m.cookie())
                        .putInt(MsgQuiesced.STATUS, m.status()).putInt(MsgQuiesced.FD_COUNT, m.descriptors().size())
                        .putInt(MsgQuiesced.RANGE_COUNT, m.ranges().size());
        b.position(MsgQuiesced.SIZE);
        m.descriptors().forEach(b::putInt);
        b.position(MsgQuiesced.SIZE + descriptorBytes);
        m.ranges().forEach(range -> b.putLong(range.start()).putLong(range.end()));
        return b.clear();
    }

    private static Message quiesced(long cookie, ByteBuffer b) throws IOException {
        if (b.limit() < MsgQuiesced.SIZE) {
            throw new IOException("QUIESCED: " + b.limit() + " bytes, fewer than a header");
        }
        int descriptors = b.getInt(MsgQuiesced.FD_COUNT);
        int ranges = b.getInt(MsgQuiesced.RANGE_COUNT);
        int start = MsgQuiesced.SIZE + (descriptors * 4 + 7 & ~7);
        if (descriptors < 0 || ranges < 0 || descriptors > Layout.MESSAGE_MAX || ranges > Layout.MESSAGE_MAX
                || start + ranges * 16 != b.limit()) {
            throw new IOException("QUIESCED: " + b.limit() + " bytes do not hold " + descriptors + " descriptors and "
                    + ranges + " ranges");
        }
        List<Integer> fds = new ArrayList<>();
        for (int i = 0; i < descriptors; i++) {
            fds.add(b.getInt(MsgQuiesced.SIZE + 4 * i));
        }
        List<Message.OwnedRange> owned = new ArrayList<>();
        for (int i = 0; i < ranges; i++) {
            owned.add(new Message.OwnedRange(b.getLong(start + 16 * i), b.getLong(start + 16 * i + 8)));
        }
        return new Message.Quiesced(cookie, b.getInt(MsgQuiesced.STATUS), List.copyOf(fds), List.copyOf(owned));
    }

    private static VerbsAddress address(ByteBuffer b, int lid, int gid, int qpn) {
        return new VerbsAddress(b.getShort(lid) & 0xffff, Gid.read(b.array(), gid), b.getInt(qpn));
    }

    private static ByteBuffer sized(ByteBuffer b, int size) throws IOException {
        if (b.limit() != size) {
            throw new IOException("message of type " + b.getInt(MessageHeader.TYPE) + " has " + b.limit()
                    + " bytes instead of " + size);
        }
        return b;
    }

    private static ByteBuffer text(ByteBuffer b, int offset, int bytes, String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        if (utf8.length >= bytes) {
            throw new IllegalArgumentException("\"" + text + "\" is longer than " + (bytes - 1) + " bytes");
        }
        return b.put(offset, utf8);
    }

    private static String text(ByteBuffer b, int offset, int bytes) {
        int length = 0;
        while (length < bytes && b.get(offset + length) != 0) {
            length++;
        }
        return new String(b.array(), offset, length, StandardCharsets.UTF_8);
    }
}
