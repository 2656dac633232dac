package org.udckpt.image.write;

import java.io.IOException;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.udckpt.image.Range;
import org.udckpt.image.block.Block;
import org.udckpt.image.block.Checksum;
import org.udckpt.image.block.Codec;
import org.udckpt.image.storage.Errno;

/** One process that writes its memory by itself, a block of up to 1 MiB at a time. */
final class SelfWrittenMemory {
    private final int process;
    private final List<Range> ranges;
    private final SelfWritingSource source;
    private final boolean digests;
    private final CompletableFuture<MemoryResult> result = new CompletableFuture<>();

    private final long[] addresses = new long[Slot.PAGES];
    /** {address, length} pairs: what is looked at, and then what of it is stored. */
    private final long[] pieces = new long[2 * Slot.PAGES];
    private final BitSet zeros = new BitSet(Slot.PAGES);
    private final PageRuns runs = new PageRuns();
    private int pages;
    private int count;
    private int range;
    private long offset;
    private long zeroBytes;
    private long storedBytes;

    /** @param digests blocks have one, besides their checksum */
    SelfWrittenMemory(int process, List<Range> ranges, SelfWritingSource source, boolean digests) {
        this.digests = digests;
        this.process = process;
        this.ranges = ranges;
        this.source = source;
    }

    CompletableFuture<MemoryResult> result() {
        return result;
    }

    /** Has everything written to one stripe file, until {@code givenUp}. @param file the stripe's index for the source */
    void write(StripeFile stripe, int file, WriteMeter meter, BooleanSupplier givenUp) throws IOException {
        long begin = System.nanoTime();
        while (range < ranges.size() && !givenUp.getAsBoolean()) {
            next();
            source.look(pieces, count, zeros);
            runs.find(zeros::get, addresses, pages);
            long stored = select();
            int block = stored == 0 ? -1 : append(stripe, file, stored, givenUp);
            runs.describe(process, addresses, block, null, stripe.log());
            zeroBytes += (long) pages * Range.PAGE - stored;
            storedBytes += stored;
            meter.done((long) pages * Range.PAGE, stored);
        }
        if (!givenUp.getAsBoolean()) {
            result.complete(new MemoryResult(process, zeroBytes + storedBytes, zeroBytes, 0, storedBytes, System.nanoTime() - begin));
        }
    }

    /** The next pages, as many as a block may hold. */
    private void next() {
        pages = 0;
        count = 0;
        while (pages < Slot.PAGES && range < ranges.size()) {
            Range from = ranges.get(range);
            long length = Math.min((long) (Slot.PAGES - pages) * Range.PAGE, from.length() - offset);
            pieces[count++] = from.address() + offset;
            pieces[count++] = length;
            for (long at = 0; at < length; at += Range.PAGE) {
                addresses[pages++] = from.address() + offset + at;
            }
            offset += length;
            if (offset == from.length()) {
                range++;
                offset = 0;
            }
        }
    }

    /** Bytes of the pages that are to be stored; they are in {@link #pieces} now. */
    private long select() {
        count = 0;
        for (int run = 0; run < runs.count(); run++) {
            if (runs.kind(run) == PageRuns.Kind.STORED) {
                pieces[count++] = addresses[runs.first(run)];
                pieces[count++] = (long) runs.pages(run) * Range.PAGE;
            }
        }
        return runs.bytes(PageRuns.Kind.STORED);
    }

    /** The new block's number. */
    private int append(StripeFile stripe, int file, long bytes, BooleanSupplier givenUp) throws IOException {
        long at = stripe.length();
        long[] hash = new long[1];
        byte[] digest = digests ? new byte[Checksum.DIGEST_BYTES] : null;
        stripe.append(bytes, givenUp, output -> {
            try {
                hash[0] = source.append(file, at, pieces, count, digest);
            } catch (IOException e) {
                throw Errno.named(stripe.path(), at, e);
            }
        });
        return stripe.log().add(new Block(stripe.number(), at, (int) bytes, (int) bytes, Codec.RAW, hash[0], digest, null));
    }
}
