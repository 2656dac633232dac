package org.udckpt.process.kinds.mount;

import java.util.function.UnaryOperator;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.kinds.named.EndedProcessFile;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.JobFilesystem;
import org.udckpt.process.model.JobMount;
import org.udckpt.process.model.RowCheck;

/** Mounts of namespaces that the job has made; the restart of these makes all that belongs to them. */
public final class JobMountKind implements ObjectKind<JobMount> {
    @Override
    public Class<JobMount> record() {
        return JobMount.class;
    }

    @Override
    public String shown(JobMount mount) {
        return mount.point() + " on mount " + mount.parent() + " of namespace " + mount.tree()
                + (mount.outside().isEmpty() ? "" : " (" + mount.outside() + ")");
    }

    /** What is mounted is of a process that has ended; null: it is not. */
    static EndedProcessFile ended(JobMount mount) {
        return mount.filesystem() == 0 && mount.part().equals(JobMount.ENDED)
                ? new EndedProcessFile(0, mount.outside(), 0, 0) : null;
    }

    @Override
    public long endingChild(JobMount mount) {
        EndedProcessFile ended = ended(mount);
        return ended == null ? 0 : ended.endingChild();
    }

    @Override
    public JobMount moved(JobMount mount, UnaryOperator<String> moves) {
        return mount.outside().isEmpty() || ended(mount) != null ? mount
                : new JobMount(mount.id(), mount.tree(), mount.number(), mount.parent(), mount.point(),
                        moves.apply(mount.outside()), mount.filesystem(), mount.part(), mount.attributes(),
                        mount.peers(), mount.master(), mount.unbindable());
    }

    @Override
    public void check(JobMount mount, RowCheck row, CheckedImage image) throws BrokenTable {
        row.between(0, MountTrees.MOST, "tree", mount.tree());
        row.between(1, Integer.MAX_VALUE, "number", mount.number());
        row.notNegative("parent", mount.parent());
        row.path("point", mount.point());
        row.text("outside", mount.outside());
        row.text("part", mount.part());
        for (String path : new String[]{mount.point(), mount.outside(), mount.part()}) {
            MountTrees.shortEnough(row, path);
        }
        row.require(mount.filesystem() == 0 || image.is(mount.filesystem(), JobFilesystem.class),
                "filesystem %d is none", mount.filesystem());
        row.path(mount.filesystem() == 0 ? "outside" : "part",
                mount.filesystem() == 0 ? mount.outside() : mount.part());
        row.require(mount.filesystem() != 0 || mount.part().isEmpty()
                || mount.part().equals(JobMount.ENDED) && EndedProcessFile.isPath(mount.outside()),
                "part (length %d) of no file system", mount.part().length());
        row.require((mount.attributes() & ~MountRestore.ATTRIBUTES) == 0, "attributes 0x%x are no flags of mounts",
                mount.attributes());
        row.notNegative("peers", mount.peers());
        row.require(mount.master() >= JobMount.MACHINES, "master %d is no group", mount.master());
        if (image.image().objects().stream().filter(JobMount.class::isInstance).findFirst().orElse(null) == mount) {
            MountTrees.check(image.image(), row);
        }
    }

    @Override
    public KindRestore<JobMount> restore(RestoreScope scope) {
        return new MountRestore(scope);
    }
}
