package org.udckpt.image.write;

import java.io.IOException;
import java.util.BitSet;
import java.util.function.BooleanSupplier;
import org.udckpt.image.Manifest;
import org.udckpt.image.Range;
import org.udckpt.image.block.Block;
import org.udckpt.image.block.Checksum;
import org.udckpt.image.block.Codec;
import org.udckpt.image.key.BlockTags;
import org.udckpt.image.storage.Errno;

/** Up to 1 MiB of pages that a writer of a process is at, block after block. For one thread. */
final class SelfWrittenBlock {
    private final SelfWrittenMemory memory;
    private final int writer;
    private final StripeFile stripe;
    private final int file;

    private final long[] addresses = new long[Slot.PAGES];
    /** {address, length} pairs: what is looked at, and then what of it is stored. */
    private final long[] pieces = new long[2 * Slot.PAGES];
    private final BitSet zeros = new BitSet(Slot.PAGES);
    private final PageRuns runs = new PageRuns();
    /** Null where nobody asks for them. */
    private final PageHashes hashes;
    private int count;
    private long bytes;

    /** @param file the stripe's index for the source */
    SelfWrittenBlock(SelfWrittenMemory memory, int writer, StripeFile stripe, int file) {
        this.memory = memory;
        this.writer = writer;
        this.stripe = stripe;
        this.file = file;
        this.hashes = memory.form().incremental() ? new PageHashes() : null;
    }

    /** Goes to the next pages; false when there are none left. */
    boolean next(RangeCursor cursor) {
        count = cursor.take(pieces, addresses);
        bytes = 0;
        for (int i = 0; i < count; i += 2) {
            bytes += pieces[i + 1];
        }
        return count > 0;
    }

    /** Bytes of memory. */
    long bytes() {
        return bytes;
    }

    /** Has what must be stored appended, and notes where it is; returns how many bytes that were. */
    long write(BooleanSupplier givenUp) throws IOException {
        if (hashes == null && memory.previous() == null && stripe.unlimited()) {
            if (appendedWhole()) { // most memory: one order in place of two
                return bytes;
            }
        } else {
            memory.source().look(writer, pieces, count, zeros, hashes == null ? null : hashes.values());
        }
        runs.find(zeros::get, addresses, (int) (bytes / Range.PAGE), hashes, memory.previous());
        long stored = select();
        describe(stored == 0 ? -1 : append(stored, givenUp));
        return stored;
    }

    /** Has all of it appended, unless some of it holds only zeros: it is known then which. */
    private boolean appendedWhole() throws IOException {
        AppendOrder order = order(stripe.length(), bytes, zeros);
        long[] hash = new long[1];
        stripe.tryAppend(bytes, _ -> {
            hash[0] = carryOut(order);
            return zeros.isEmpty();
        });
        if (!zeros.isEmpty()) {
            stripe.notAskedFor(order.roomFrom());
            return false;
        }
        runs.find(zeros::get, addresses, (int) (bytes / Range.PAGE), null, null);
        describe(note(order, bytes, hash[0]));
        return true;
    }

    private AppendOrder order(long at, long length, BitSet unlessZeros) {
        BlockTags tags = memory.tags();
        byte[] digest = memory.form().integrity() == Manifest.Integrity.SHA256 ? new byte[Checksum.DIGEST_BYTES] : null;
        long roomFrom = stripe.room();
        return new AppendOrder(file, at, roomFrom, stripe.roomFor(length), digest, tags == null ? null : tags.key(),
                tags == null ? null : tags.nextSeal(), unlessZeros);
    }

    private long carryOut(AppendOrder order) throws IOException {
        try {
            return memory.source().append(writer, pieces, count, order);
        } catch (IOException e) {
            throw Errno.named(stripe.path(), order.offset(), e);
        }
    }

    /** The new block's number. */
    private int note(AppendOrder order, long stored, long hash) {
        return stripe.log().add(new Block(stripe.number(), order.offset(), (int) stored, (int) stored, Codec.RAW,
                order.key() == null ? hash : 0, order.digest(), order.seal()));
    }

    private void describe(int block) {
        runs.describe(memory.process(), addresses, block, hashes, stripe.log());
        memory.count(runs);
    }

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
    private int append(long stored, BooleanSupplier givenUp) throws IOException {
        AppendOrder order = order(stripe.length(), stored, null);
        long[] hash = new long[1];
        stripe.append(stored, givenUp, _ -> hash[0] = carryOut(order));
        return note(order, stored, hash[0]);
    }
}
