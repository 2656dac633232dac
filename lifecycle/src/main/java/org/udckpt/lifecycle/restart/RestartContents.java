package org.udckpt.lifecycle.restart;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.udckpt.image.read.NodeReader;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.restore.Relocation;
import org.udckpt.store.ImageTables;
import org.udckpt.store.RankRow;
import org.udckpt.store.StateTables;
import org.udckpt.support.config.Settings;

/** What the processes of a restart are made of. */
record RestartContents(JobImage image, List<RankRow> ranks, List<MemorySource> memory, CudaRestart cuda) {
    /**
     * Read by two threads, as the tables of memory take as long as all others. When it has ended, nobody reads.
     *
     * @param relocation where the job's files are now
     */
    static CompletableFuture<RestartContents> read(NodeReader node, Relocation relocation, Settings settings) {
        CompletableFuture<List<MemorySource>> memory = BackgroundTask.begin(() -> ImageTables.openMemory(node));
        return BackgroundTask.begin(() -> {
            JobImage image;
            try {
                image = ImageTables.readImage(node);
            } catch (Throwable first) {
                memory.handle((_, _) -> null).join(); // the reader is closed then
                throw first;
            }
            List<MemorySource> sources = BackgroundTask.join(memory);
            ImageTables.check(node, image, sources);
            JobImage here = relocation.of(image);
            return new RestartContents(here,
                    ImageTables.readRanks(node, image, StateTables.readJob(node.checkpoint()).span(node)), sources,
                    CudaRestart.plan(node, here, settings));
        });
    }
}
