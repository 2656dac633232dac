package org.udckpt.transport;

import io.netty.channel.Channel;
import java.net.SocketAddress;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Connections that have proved to belong to the job. All nodes talk to the lead at its start, which has memory for some
 * of them at once: who has had no call for the longest goes for who comes, and makes another connection when it has
 * something to say again. Not thread-safe.
 */
final class AuthenticatedConnections {
    private static final class Member {
        final Channel channel;
        int calls;

        Member(Channel channel) {
            this.channel = channel;
        }
    }

    private final int most;
    /** The one that had no call for the longest first. */
    private final Map<SocketAddress, Member> all = new LinkedHashMap<>();

    AuthenticatedConnections(int most) {
        this.most = most;
    }

    /** @return who has to go: another one that is idle, the newcomer itself if there is none; null: nobody */
    Channel enter(SocketAddress peer, Channel channel) {
        Channel loser = null;
        if (all.size() >= most) {
            SocketAddress idle = all.entrySet().stream().filter(member -> member.getValue().calls == 0)
                    .map(Map.Entry::getKey).findFirst().orElse(null);
            if (idle == null) {
                return channel;
            }
            loser = all.remove(idle).channel;
        }
        all.put(peer, new Member(channel));
        return loser;
    }

    /** @param calls 1: one begins, -1: one has ended */
    void call(SocketAddress peer, int calls) {
        Member member = all.remove(peer);
        if (member != null) {
            member.calls += calls;
            all.put(peer, member);
        }
    }

    void leave(SocketAddress peer) {
        all.remove(peer);
    }

    int size() {
        return all.size();
    }
}
