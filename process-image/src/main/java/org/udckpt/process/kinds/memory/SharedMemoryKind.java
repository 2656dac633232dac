package org.udckpt.process.kinds.memory;

import java.util.function.UnaryOperator;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.JobName;
import org.udckpt.process.model.MemoryKind;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.RowCheck;
import org.udckpt.process.model.SharedMemory;
import org.udckpt.process.names.NewName;

/** Shared memory and deleted files, whose contents are in the image as memory is. */
public final class SharedMemoryKind implements ObjectKind<SharedMemory> {
    /** What /proc/PID/maps calls memory of MAP_HUGETLB without a name. */
    public static final String HUGE_PAGES = "/anon_hugepage";

    @Override
    public Class<SharedMemory> record() {
        return SharedMemory.class;
    }

    @Override
    public String shown(SharedMemory memory) {
        return memory.path();
    }

    @Override
    public SharedMemory moved(SharedMemory memory, UnaryOperator<String> moves) {
        return switch (memory.kind()) {
            case NAMED_FILE, DISK_FILE, DELETED_FILE -> new SharedMemory(memory.id(), memory.kind(),
                    moves.apply(memory.path()), memory.size(), memory.mode(), memory.uid(), memory.gid(), memory.key(),
                    memory.ipcId(), memory.seals());
            case ANONYMOUS, MEMFD, SYSV, MOUNTED_FILE -> memory;
        };
    }

    @Override
    public NewName name(SharedMemory memory, JobName former, ProcessState user) {
        return memory.kind() != MemoryKind.NAMED_FILE ? null
                : new NewName(
                        NewName.Kind.SHARED_MEMORY, memory.path(), memory.mode() & 07777, memory.uid(), memory.gid());
    }

    @Override
    public void check(SharedMemory memory, RowCheck row, CheckedImage image) throws BrokenTable {
        row.notNull("kind", memory.kind());
        row.text("path", memory.path());
        row.notNegative("size", memory.size());
    }

    @Override
    public KindRestore<SharedMemory> restore(RestoreScope scope) {
        return new SharedMemoryRestore(scope);
    }
}
