package org.udckpt.process.kinds.deleted;

import java.util.Set;
import java.util.stream.Collectors;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.KernelObject;

/** The working directory of process {@code pid} is a {@link DeletedDirectory}, {@code backing}. */
public record DeletedWorkingDirectory(long id, int pid, long backing) implements KernelObject {
    /** Pids of the processes that have one. */
    public static Set<Integer> of(JobImage image) {
        return image.objects().stream().filter(DeletedWorkingDirectory.class::isInstance)
                .map(one -> ((DeletedWorkingDirectory) one).pid).collect(Collectors.toSet());
    }
}
