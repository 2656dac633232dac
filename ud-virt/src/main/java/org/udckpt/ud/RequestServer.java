package org.udckpt.ud;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashSet;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.udckpt.address.AddressAuthority;
import org.udckpt.address.Endpoint;
import org.udckpt.address.Gid;
import org.udckpt.address.TranslationTable;
import org.udckpt.address.VerbsAddress;
import org.udckpt.layout.Layout;

/** Answers one process's requests, one at a time. */
final class RequestServer {
    private final AddressAuthority authority;
    private final TranslationTable table;
    private final FormerEndpoints former;
    private final Set<Endpoint> own = new HashSet<>();
    private final RankHosts hosts;
    private final CmDirectory ports;
    private final MirroredKeys keys;
    private final RankNumbers numbers;
    private final Message.Hello process;
    private int rank;
    private boolean claimed;

    RequestServer(AddressAuthority authority, TranslationTable table, FormerEndpoints former, RankHosts hosts,
            CmDirectory ports, MirroredKeys keys, RankNumbers numbers, Message.Hello process) {
        this.authority = authority;
        this.table = table;
        this.former = former;
        this.hosts = hosts;
        this.ports = ports;
        this.keys = keys;
        this.numbers = numbers;
        this.process = process;
        this.rank = process.rank();
    }

    /** @throws IOException when the message is not a request */
    Message answer(Message request) throws IOException {
        return switch (request) {
            case Message.Locate m -> locate(m);
            case Message.Register m -> register(m);
            case Message.Unregister m -> unregister(m);
            case Message.Resolve m -> resolve(m);
            case Message.Host m -> host(m);
            case Message.FindHost m -> findHost(m);
            case Message.PeerKeys m -> peerKeys(m);
            case Message.TellKey m -> tellKey(m);
            case Message.FindKey m -> findKey(m);
            case Message.CmBind m -> ports.bind(m, this)
                    .map(port -> new Message.CmBound(m.cookie(), Layout.STATUS_OK, port.number()))
                    .orElseGet(() -> new Message.CmBound(m.cookie(), Layout.STATUS_FAILED, 0));
            case Message.CmUnbind m -> new Message.CmUnbound(m.cookie(),
                    ports.unbind(m.owner()) ? Layout.STATUS_OK : Layout.STATUS_UNKNOWN);
            case Message.CmFind m -> ports.find(m.port())
                    .map(service -> new Message.CmFound(m.cookie(), Layout.STATUS_OK, service))
                    .orElseGet(() -> new Message.CmFound(m.cookie(),
                            ports.mayListenSoon(m.port()) ? Layout.STATUS_FAILED : Layout.STATUS_UNKNOWN,
                            new VerbsAddress(0, Gid.ZERO, 0)));
            case Message.Identify m -> throw unexpected(m);
            case Message.Hello m -> throw unexpected(m);
            case Message.Quiesce m -> throw unexpected(m);
            case Message.Quiesced m -> throw unexpected(m);
            case Message.Settle m -> throw unexpected(m);
            case Message.Settled m -> throw unexpected(m);
            case Message.Connect m -> throw unexpected(m);
            case Message.Connected m -> throw unexpected(m);
            case Message.Drain m -> throw unexpected(m);
            case Message.Drained m -> throw unexpected(m);
            case Message.Resume m -> throw unexpected(m);
            case Message.Resumed m -> throw unexpected(m);
            case Message.Rebuild m -> throw unexpected(m);
            case Message.Rebuilt m -> throw unexpected(m);
            case Message.Hosted m -> throw unexpected(m);
            case Message.Located m -> throw unexpected(m);
            case Message.Registered m -> throw unexpected(m);
            case Message.Unregistered m -> throw unexpected(m);
            case Message.Resolved m -> throw unexpected(m);
            case Message.Keyed m -> throw unexpected(m);
            case Message.CmBound m -> throw unexpected(m);
            case Message.CmUnbound m -> throw unexpected(m);
            case Message.CmFound m -> throw unexpected(m);
        };
    }

    private Message locate(Message.Locate m) {
        OptionalInt number =
                rank >= 0 ? OptionalInt.of(rank) : numbers.claim(process.tree(), process.pid(), process.mpiRank());
        if (number.isEmpty()) {
            System.err.println("udckpt: LOCATE: process " + process.pid() + ": too many processes with verbs "
                    + "devices; the limit is " + Layout.RANKS_MOST
                    + ", fewer if the job has millions of ranks");
            return new Message.Located(m.cookie(), Layout.STATUS_FAILED, 0, 0, 0, 0, -1);
        }
        claimed |= rank < 0;
        rank = number.getAsInt();
        return hosts.of(process.tree())
                .map(host -> new Message.Located(m.cookie(), Layout.STATUS_OK, host.lid(), host.lids(), host.qpnFirst(),
                        host.qpnLast(), rank))
                .orElseGet(() -> new Message.Located(m.cookie(), Layout.STATUS_UNKNOWN, 0, 0, 0, 0, rank));
    }

    private Message register(Message.Register m) {
        try {
            Endpoint endpoint = authority.register(rank, m.virtualQpn(), m.virtual(), m.real(), m.transport());
            table.put(endpoint); // before it can send: whoever receives from it looks there
            own.add(endpoint);
            return new Message.Registered(m.cookie(), Layout.STATUS_OK, endpoint.virtual().qpn());
        } catch (IllegalStateException e) {
            System.err.println("udckpt: REGISTER: " + e.getMessage());
            return new Message.Registered(m.cookie(), Layout.STATUS_FAILED, 0);
        }
    }

    private Message unregister(Message.Unregister m) {
        Optional<Endpoint> gone = authority.unregister(rank, m.virtual().lid(), m.virtual().qpn());
        gone.ifPresent(endpoint -> {
            own.remove(endpoint);
            former.destroyed(endpoint);
        });
        return new Message.Unregistered(m.cookie(), gone.isPresent() ? Layout.STATUS_OK : Layout.STATUS_UNKNOWN);
    }

    private Message host(Message.Host m) {
        try {
            authority.host(m.reverse(), m.number(), m.gids());
            return new Message.Hosted(m.cookie(), Layout.STATUS_OK, m.number());
        } catch (IllegalStateException e) {
            System.err.println("udckpt: HOST: " + e.getMessage());
            return new Message.Hosted(m.cookie(), Layout.STATUS_FAILED, 0);
        }
    }

    private Message findHost(Message.FindHost m) {
        try {
            OptionalInt found = authority.hostOf(m.reverse(), m.gid());
            return new Message.Hosted(m.cookie(), found.isPresent() ? Layout.STATUS_OK : Layout.STATUS_UNKNOWN,
                    found.orElse(0));
        } catch (IllegalStateException e) {
            System.err.println("udckpt: FIND_HOST: " + e.getMessage());
            return new Message.Hosted(m.cookie(), Layout.STATUS_FAILED, 0);
        }
    }

    private Message peerKeys(Message.PeerKeys m) {
        try {
            return new Message.Keyed(m.cookie(), keys.provide(m.rank()) ? Layout.STATUS_OK : Layout.STATUS_UNKNOWN, 0);
        } catch (IllegalStateException | UncheckedIOException e) {
            System.err.println("udckpt: PEER_KEYS: " + e.getMessage());
            return new Message.Keyed(m.cookie(), Layout.STATUS_FAILED, 0);
        }
    }

    private Message tellKey(Message.TellKey m) {
        try {
            keys.tell(m.rank(), m.virtualKey(), m.realKey());
            return new Message.Keyed(m.cookie(), Layout.STATUS_OK, m.realKey());
        } catch (IllegalStateException e) {
            System.err.println("udckpt: TELL_KEY: " + e.getMessage());
            return new Message.Keyed(m.cookie(), Layout.STATUS_FAILED, 0);
        }
    }

    private Message findKey(Message.FindKey m) {
        try {
            OptionalInt found = keys.find(m.rank(), m.virtualKey());
            return new Message.Keyed(m.cookie(), found.isPresent() ? Layout.STATUS_OK : Layout.STATUS_UNKNOWN,
                    found.orElse(0));
        } catch (IllegalStateException e) {
            System.err.println("udckpt: FIND_KEY: " + e.getMessage());
            return new Message.Keyed(m.cookie(), Layout.STATUS_FAILED, 0);
        }
    }

    private Message resolve(Message.Resolve m) {
        Optional<Endpoint> found = m.reverse() ? authority.byReal(m.address().lid(), m.address().qpn())
                : authority.byVirtual(m.address().lid(), m.address().qpn());
        if (found.isEmpty()) {
            return new Message.Resolved(m.cookie(), Layout.STATUS_UNKNOWN);
        }
        try {
            table.put(found.get());
            return new Message.Resolved(m.cookie(), Layout.STATUS_OK);
        } catch (IllegalStateException e) {
            System.err.println("udckpt: RESOLVE of " + m.address() + ": " + e.getMessage());
            return new Message.Resolved(m.cookie(), Layout.STATUS_FAILED);
        }
    }

    private static IOException unexpected(Message message) {
        return new IOException("malformed request: " + message);
    }

    /** The process has ended: what it held is free. */
    void close() {
        ports.forget(this);
        own.forEach(former::ended);
        if (claimed) {
            numbers.release(rank, process.pid());
        }
    }
}
