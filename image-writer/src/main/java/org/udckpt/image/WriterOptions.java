package org.udckpt.image;

import java.util.Objects;

/**
 * How checkpoints are written.
 *
 * @param key         seals the manifest
 * @param storage     the file system
 * @param integrity   what protects memory; {@link Manifest.Integrity#SHA256} costs about half a second of CPU per GiB
 * @param stripes     stripe files per node, 1 to 64, each with a writing thread
 * @param readers     processes of a node that are read at once
 * @param workers     threads that look for zero pages and compute checksums
 * @param bufferBytes memory for pages in flight per node, at least 4 MiB
 * @param direct      write stripe files past the page cache where the file system takes it
 * @param courtesy    what the writing leaves to the job
 * @param meter       counts while a checkpoint is written; each has its own
 */
public record WriterOptions(ImageKey key, StorageIo storage, Manifest.Integrity integrity, int stripes, int readers,
                            int workers, long bufferBytes, boolean direct, Courtesy courtesy, WriteMeter meter) {
    public WriterOptions {
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(storage, "storage");
        Objects.requireNonNull(integrity, "integrity");
        Objects.requireNonNull(courtesy, "courtesy");
        Objects.requireNonNull(meter, "meter");
        if (stripes < 1 || stripes > 64 || readers < 1 || workers < 1 || bufferBytes < 4 << 20) {
            throw new IllegalArgumentException("stripes 1 to 64, readers and workers at least 1, buffer at least 4 MiB");
        }
    }

    /** Two stripes, up to 4 readers and workers each, 256 MiB of buffers, SHA-256, O_DIRECT. */
    public static WriterOptions of(ImageKey key) {
        int threads = Math.clamp(Runtime.getRuntime().availableProcessors(), 1, 4);
        return new WriterOptions(key, LocalStorage.INSTANCE, Manifest.Integrity.SHA256, 2, threads, threads, 256L << 20, true, Courtesy.NONE, new WriteMeter());
    }

    public WriterOptions withStorage(StorageIo other) {
        return new WriterOptions(key, other, integrity, stripes, readers, workers, bufferBytes, direct, courtesy, meter);
    }

    public WriterOptions withIntegrity(Manifest.Integrity other) {
        return new WriterOptions(key, storage, other, stripes, readers, workers, bufferBytes, direct, courtesy, meter);
    }

    public WriterOptions withStripes(int other) {
        return new WriterOptions(key, storage, integrity, other, readers, workers, bufferBytes, direct, courtesy, meter);
    }

    public WriterOptions withBufferBytes(long other) {
        return new WriterOptions(key, storage, integrity, stripes, readers, workers, other, direct, courtesy, meter);
    }

    public WriterOptions withDirect(boolean other) {
        return new WriterOptions(key, storage, integrity, stripes, readers, workers, bufferBytes, other, courtesy, meter);
    }

    public WriterOptions withCourtesy(Courtesy other) {
        return new WriterOptions(key, storage, integrity, stripes, readers, workers, bufferBytes, direct, other, meter);
    }

    public WriterOptions withMeter(WriteMeter other) {
        return new WriterOptions(key, storage, integrity, stripes, readers, workers, bufferBytes, direct, courtesy, other);
    }
}
