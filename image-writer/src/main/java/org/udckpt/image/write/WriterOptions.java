package org.udckpt.image.write;

import java.util.Objects;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.storage.Courtesy;
import org.udckpt.image.storage.LocalStorage;
import org.udckpt.image.storage.StorageIo;

/**
 * How checkpoints are written.
 *
 * @param key seals the manifest, and encrypts where it has a secret for that
 * @param storage the file system
 * @param form in which memory is stored
 * @param stripes stripe files per node for what is read, 1 to 64, each with a writing thread; at least as many, and up
 *     to 8, for processes that write themselves
 * @param readers processes of a node that are read at once
 * @param workers threads that look for zero pages, compress, encrypt and compute checksums
 * @param bufferBytes memory for pages in flight per node, at least 4 MiB
 * @param direct write stripe files past the page cache where the file system takes it
 * @param courtesy what the writing leaves to the job
 * @param meter counts while a checkpoint is written; each has its own
 * @param verify read also what is said to be {@link Unchanged}, and compare it
 */
public record WriterOptions(ImageKey key, StorageIo storage, ImageForm form, int stripes, int readers, int workers,
        long bufferBytes,
        boolean direct, Courtesy courtesy, WriteMeter meter, boolean verify) {
    public WriterOptions {
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(storage, "storage");
        Objects.requireNonNull(form, "form");
        Objects.requireNonNull(courtesy, "courtesy");
        Objects.requireNonNull(meter, "meter");
        if (stripes < 1 || stripes > 64 || readers < 1 || workers < 1 || bufferBytes < 4 << 20) {
            throw new IllegalArgumentException(
                    "stripes 1 to 64, readers and workers at least 1, buffer at least 4 MiB");
        }
    }

    /** Two stripes, up to 4 readers and workers each, 256 MiB of buffers, the plain form, O_DIRECT. */
    public static WriterOptions of(ImageKey key) {
        int threads = Math.clamp(Runtime.getRuntime().availableProcessors(), 1, 4);
        return new WriterOptions(key, LocalStorage.INSTANCE, ImageForm.PLAIN, 2, threads, threads, 256L << 20, true,
                Courtesy.NONE, new WriteMeter(), false);
    }

    public WriterOptions withStorage(StorageIo other) {
        return new WriterOptions(key, other, form, stripes, readers, workers, bufferBytes, direct, courtesy, meter,
                verify);
    }

    public WriterOptions withForm(ImageForm other) {
        return new WriterOptions(key, storage, other, stripes, readers, workers, bufferBytes, direct, courtesy, meter,
                verify);
    }

    public WriterOptions withStripes(int other) {
        return new WriterOptions(key, storage, form, other, readers, workers, bufferBytes, direct, courtesy, meter,
                verify);
    }

    public WriterOptions withBufferBytes(long other) {
        return new WriterOptions(key, storage, form, stripes, readers, workers, other, direct, courtesy, meter, verify);
    }

    public WriterOptions withDirect(boolean other) {
        return new WriterOptions(key, storage, form, stripes, readers, workers, bufferBytes, other, courtesy, meter,
                verify);
    }

    public WriterOptions withCourtesy(Courtesy other) {
        return new WriterOptions(key, storage, form, stripes, readers, workers, bufferBytes, direct, other, meter,
                verify);
    }

    public WriterOptions withMeter(WriteMeter other) {
        return new WriterOptions(key, storage, form, stripes, readers, workers, bufferBytes, direct, courtesy, other,
                verify);
    }

    public WriterOptions withVerify(boolean other) {
        return new WriterOptions(key, storage, form, stripes, readers, workers, bufferBytes, direct, courtesy, meter,
                other);
    }
}
