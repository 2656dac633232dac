package org.udckpt.coordination.lookup;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.coordination.tree.MalformedMessage;

/**
 * What a node of the tree knows of a table of values by name, such as PMI's key-value space. An entry goes by 63 bits
 * of its key's SHA-256; two keys of a job with the same ones are refused, which is less likely than one in a million
 * for a million keys. A key is never put twice with different values, so what is known stays right.
 */
public final class KeyCache implements TableCache {
    private static final int MOST_KEY_BYTES = 0xffff;

    private record Pair(byte[] key, byte[] value) {
        int bytes() {
            return 6 + key.length + value.length;
        }
    }

    private final String what;
    private final Map<Long, Pair> pairs = new HashMap<>();

    /** @param what a key is called in messages, such as "PMI key" */
    public KeyCache(String what) {
        this.what = what;
    }

    /** The number by which a key is asked for. */
    public static long number(String key) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(key.getBytes(StandardCharsets.UTF_8));
            return ByteBuffer.wrap(digest).getLong() >>> 1;
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this Java has no SHA-256", e);
        }
    }

    /** Pairs as {@link #add} takes them, in messages. */
    public static List<byte[]> entries(Map<String, String> pairs) {
        return encode(
                pairs.entrySet().stream().map(pair -> new Pair(bytes(pair.getKey()), bytes(pair.getValue()))).toList());
    }

    /** The value, or null if it is not known here. */
    public String get(String key) {
        Pair pair = pairs.get(number(key));
        return pair == null || !Arrays.equals(pair.key, bytes(key)) ? null
                : new String(pair.value, StandardCharsets.UTF_8);
    }

    @Override
    public long[] add(byte[] entries) throws MalformedMessage, RefusedEntries {
        List<Pair> added = decode(entries);
        long[] taken = new long[added.size()];
        int count = 0;
        String refused = null;
        for (Pair pair : added) {
            long number = number(text(pair.key));
            Pair before = pairs.putIfAbsent(number, pair);
            if (before == null || Arrays.equals(before.key, pair.key) && Arrays.equals(before.value, pair.value)) {
                taken[count++] = number;
            } else {
                refused = (refused == null ? "" : refused + "; ") + what + " '" + text(pair.key)
                        + (Arrays.equals(before.key, pair.key) ? "' is put twice"
                                : "' has the same number as '" + text(before.key) + "'");
            }
        }
        taken = Arrays.copyOf(taken, count);
        if (refused != null) {
            throw new RefusedEntries(refused, taken);
        }
        return taken;
    }

    @Override
    public long[] missing(long[] keys) {
        return Arrays.stream(keys).filter(key -> !pairs.containsKey(key)).toArray();
    }

    @Override
    public List<byte[]> find(long[] keys) {
        return encode(Arrays.stream(keys).mapToObj(pairs::get).filter(java.util.Objects::nonNull).toList());
    }

    private static List<byte[]> encode(List<Pair> pairs) {
        List<byte[]> messages = new ArrayList<>();
        int first = 0;
        while (first < pairs.size()) {
            int end = first;
            int bytes = 0;
            while (end < pairs.size() && bytes + pairs.get(end).bytes() <= MAX_BYTES) {
                bytes += pairs.get(end++).bytes();
            }
            if (end == first || pairs.get(first).key.length > MOST_KEY_BYTES) {
                throw new IllegalArgumentException("a pair of " + pairs.get(first).bytes() + " bytes");
            }
            ByteBuffer message = ByteBuffer.allocate(bytes);
            pairs.subList(first, end).forEach(pair -> message.putShort((short) pair.key.length).put(pair.key)
                    .putInt(pair.value.length).put(pair.value));
            messages.add(message.array());
            first = end;
        }
        return messages;
    }

    private static List<Pair> decode(byte[] entries) throws MalformedMessage {
        List<Pair> pairs = new ArrayList<>();
        ByteBuffer from = ByteBuffer.wrap(entries);
        try {
            while (from.hasRemaining()) {
                byte[] key = take(from, Short.toUnsignedInt(from.getShort()));
                pairs.add(new Pair(key, take(from, from.getInt())));
            }
            return pairs;
        } catch (BufferUnderflowException e) {
            throw new MalformedMessage("pairs of " + entries.length + " bytes are truncated", e);
        }
    }

    private static byte[] take(ByteBuffer from, int length) {
        if (length < 0 || length > from.remaining()) {
            throw new BufferUnderflowException();
        }
        byte[] bytes = new byte[length];
        from.get(bytes);
        return bytes;
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
