package org.udckpt.process.kinds.mqueue;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * The messages of a queue whose users stand still. They can be read only by receiving them; udckpt-shepherd does that
 * and sends them again (shepherd_queue.c), since they must not be lost when this process is killed.
 */
record CopiedMessages(int[] priorities, int[] lengths, byte[] contents) {
    static final CopiedMessages NONE = new CopiedMessages(new int[0], new int[0], new byte[0]);
    private static final int PRIORITY = 0, LENGTH = 4, HEAD_BYTES = 8;

    /** @param most as many as the queue takes */
    static CopiedMessages of(FoundQueue queue, Path shepherd, int most) {
        ProcessBuilder builder = new ProcessBuilder(shepherd.toString(), "--copy-queue", "/proc/self/fd/0");
        builder.redirectInput(new File(queue.path())); // the path is one of this process only
        builder.environment().clear();
        try {
            Process process = builder.start();
            byte[] all = process.getInputStream().readAllBytes();
            byte[] error = process.getErrorStream().readAllBytes();
            int code = process.waitFor();
            if (code != 0) {
                throw queue.failed("has messages that could not be copied ("
                        + new String(error, StandardCharsets.UTF_8).strip() + ", code " + code + ")");
            }
            return parse(ByteBuffer.wrap(all).order(ByteOrder.LITTLE_ENDIAN), most);
        } catch (IOException e) {
            throw queue.failed("has messages that could not be copied: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw queue.failed("is in use: interrupted while its messages were copied");
        }
    }

    private static CopiedMessages parse(ByteBuffer all, int most) {
        int[] priorities = new int[most];
        int[] lengths = new int[most];
        ByteArrayOutputStream contents = new ByteArrayOutputStream(all.remaining());
        int count = 0;
        for (int at = 0; at < all.limit(); at += HEAD_BYTES + lengths[count++]) {
            priorities[count] = all.getInt(at + PRIORITY);
            lengths[count] = all.getInt(at + LENGTH);
            contents.write(all.array(), at + HEAD_BYTES, lengths[count]);
        }
        return new CopiedMessages(java.util.Arrays.copyOf(priorities, count), java.util.Arrays.copyOf(lengths, count),
                contents.toByteArray());
    }
}
