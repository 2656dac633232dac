package org.udckpt.coordination.tree;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import org.udckpt.coordination.lookup.ControlChannel;
import org.udckpt.coordination.lookup.Fence;
import org.udckpt.coordination.lookup.KeyCache;
import org.udckpt.coordination.lookup.TableResolver;
import org.udckpt.coordination.lookup.Totals;
import org.udckpt.coordination.protocol.Budgets;
import org.udckpt.coordination.protocol.NodeProtocol;
import org.udckpt.coordination.protocol.Participant;
import org.udckpt.coordination.protocol.Ranks;
import org.udckpt.coordination.protocol.Request;
import org.udckpt.fuzz.Fuzzes;

/**
 * Messages to a node in the middle of a tree of seven: {@code u8 from, u8 kind, u16 length, bytes}, one after the
 * other. Kind 0: the bytes are the whole message; 1 to 5: the tree's kinds, with a right head and the next number; 6:
 * so much time passes.
 */
@Fuzzes({TreeMessage.class, TreeNode.class, NodeProtocol.class, TableResolver.class, Fence.class, ControlChannel.class,
        Totals.class, KeyCache.class, Request.class,
        Participant.class})
public final class NodeFuzz {
    private static final int SELF = 1, INCARNATION = 7, KINDS = 7;
    private static final Tree TREE = new Tree(7, 2);
    private static final Timing TIMING = new Timing(1_000_000, 10_000_000, 60_000_000);

    private NodeFuzz() {}

    private static final class Silent implements TableResolver.Local, ControlChannel.Reader, Ranks {
        @Override
        public void begin(Request request, long now) {}

        @Override
        public void over(String why, long inDoubt, long now) {}

        @Override
        public void begin(long now) {}

        @Override
        public void answered(int number, long[] absent, long now) {}

        @Override
        public void refused(String why, long now) {}

        @Override
        public void fromNode(int node, byte[] note, long now) {}

        @Override
        public void fromRoot(byte[] note, long now) {}
    }

    private static NodeProtocol node() {
        Silent silent = new Silent();
        NodeProtocol node =
                new NodeProtocol(SELF, INCARNATION, TREE, TIMING, Budgets.USUAL, (to, message) -> {}, silent, null, 0);
        TableResolver addresses = node.addresses(new KeyCache("address"), silent);
        node.keys(new KeyCache("PMI key"), silent).complete(0);
        node.facts(new KeyCache("fact"), silent).complete(0);
        node.fence(now -> {});
        node.control(silent);
        node.totals(new Totals.Counts(0, new long[2], new long[3]), counts -> {});
        addresses.ask(new long[]{5, 6}, 0);
        addresses.complete(0);
        return node;
    }

    public static void fuzzerTestOneInput(byte[] input) {
        ByteBuffer from = ByteBuffer.wrap(input);
        Map<Integer, Integer> numbers = new HashMap<>();
        NodeProtocol node = node();
        long now = 1;
        while (from.remaining() >= 4) {
            int sender = Byte.toUnsignedInt(from.get()) % TREE.nodes();
            int kind = Byte.toUnsignedInt(from.get()) % KINDS;
            byte[] bytes = new byte[Math.min(Short.toUnsignedInt(from.getShort()), from.remaining())];
            from.get(bytes);
            if (kind == KINDS - 1) {
                now += 1_000_000L * bytes.length;
                node.treeNode().onTimer(now);
                continue;
            }
            try {
                node.treeNode().onMessage(sender,
                        kind == 0 ? bytes : message(TreeMessage.Kind.values()[kind - 1], sender, numbers, bytes), now);
            } catch (MalformedMessage e) {
                // as promised
            }
        }
    }

    private static byte[] message(TreeMessage.Kind kind, int sender, Map<Integer, Integer> numbers, byte[] body) {
        int number = kind == TreeMessage.Kind.HEARTBEAT_UP || kind == TreeMessage.Kind.HEARTBEAT_DOWN ? 0
                : numbers.merge(sender, 1, Integer::sum);
        return new TreeMessage(kind, INCARNATION, 0, number, body).encode();
    }
}
