package org.udckpt.image.read;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.udckpt.image.Manifest;
import org.udckpt.image.storage.StorageIo;

/** The opened stripe files of one node of one checkpoint, by number. Thread-safe. */
final class Stripes implements Closeable {
    private final List<Manifest.FileEntry> entries;
    private final List<Path> files = new ArrayList<>();
    private final List<StorageIo.Input> inputs = new ArrayList<>();

    Stripes(ImageFiles image, int node) throws IOException {
        this.entries = image.stripes(node);
        try {
            for (Manifest.FileEntry entry : entries) {
                files.add(image.directory().resolve(entry.name()));
                inputs.add(image.io().open(files.getLast()));
            }
        } catch (IOException | RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    /** As the manifest has them. */
    List<Long> lengths() {
        return entries.stream().map(Manifest.FileEntry::length).toList();
    }

    Path file(int number) {
        return files.get(number);
    }

    StorageIo.Input input(int number) {
        return inputs.get(number);
    }

    @Override
    public void close() throws IOException {
        for (StorageIo.Input input : inputs) {
            input.close();
        }
    }
}
