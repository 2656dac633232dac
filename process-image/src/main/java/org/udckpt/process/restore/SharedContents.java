package org.udckpt.process.restore;

import java.io.IOException;
import java.util.Map;
import org.udckpt.linux.Files;
import org.udckpt.linux.ProcessHandleFd;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.SharedMemory;

/**
 * The contents of shared memory, by its ids, and how they come into what was made.
 *
 * @param changes {@link RestoreTarget#changes}
 */
record SharedContents(Map<Long, MemorySource> sources, Pages pages, PrivateFiles.Place changes) {
    /** Into a file of {@code maker}; {@link Pages#await} waits for it. What is empty reads as zero. */
    void fill(SharedMemory memory, Tracee maker, long fd) {
        MemorySource source = sources.get(memory.id());
        if (source != null) {
            try (ProcessHandleFd process = new ProcessHandleFd(maker.hostPid())) {
                pages.fillFile(source, process.duplicate((int) fd), memory);
            }
        }
    }

    /** Into a file that this process has open, and that is closed then. */
    void fillHere(SharedMemory memory, int fd) {
        MemorySource source = sources.get(memory.id());
        if (source == null) {
            Files.close(fd);
        } else {
            pages.fillFile(source, fd, memory);
        }
    }

    /** To an address in {@code maker}, at once. */
    void fillAt(SharedMemory memory, Tracee maker, long address, String what) {
        MemorySource source = sources.get(memory.id());
        if (source != null) {
            pages.fillMemory(source, maker.memory(), address, what);
            pages.await();
        }
    }

    /** Without {@link #changes} it is the job's again, which removes it or not. */
    void noteMade(Tracee maker, SharedMemory memory) {
        if (changes == null) {
            return;
        }
        try {
            PrivateFiles.made(changes, memory);
        } catch (IOException e) {
            throw maker.failed("could not record that " + memory.path() + " has to be removed later: "
                    + e.getMessage());
        }
    }
}
