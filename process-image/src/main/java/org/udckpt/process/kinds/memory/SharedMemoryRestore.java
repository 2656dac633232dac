package org.udckpt.process.kinds.memory;

import static org.udckpt.linux.LinuxConstants.AT_FDCWD;

import java.util.HashMap;
import java.util.Map;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.IpcObject;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.OpenFile;
import org.udckpt.process.model.SharedMemory;
import org.udckpt.process.names.NewName;
import org.udckpt.process.names.PlacedNames;

/** Makes the shared segments and files whose contents are in the image, and fills them. */
final class SharedMemoryRestore implements KindRestore<SharedMemory> {
    private static final int F_ADD_SEALS = 1033, MFD_CLOEXEC = 1, MFD_ALLOW_SEALING = 2, MFD_EXEC = 16;
    private static final int F_SEAL_EXEC = 0x20; // fcntl(2), Linux 6.3
    private static final int IPC_RMID = 0, IPC_SET = 1, SHM_DEST = 01000, SHMID_DS_BYTES = 112;
    private static final long UTIME_OMIT = 0x3fff_fffe, SECOND_NS = 1_000_000_000L;

    private final RestoreScope scope;
    /** When each was written to last, by id, as who has it open sees. */
    private final Map<Long, Long> modified = new HashMap<>();

    SharedMemoryRestore(RestoreScope scope) {
        this.scope = scope;
        scope.objects(OpenFile.class).forEach(file -> modified.put(file.backing(), file.modifiedNs()));
    }

    @Override
    public void makeMemory() {
        scope.objects(SharedMemory.class).forEach(memory -> makeWithContent(scope.user(memory.id()), memory));
    }

    @Override
    public void finishMemory() {
        scope.objects(SharedMemory.class).forEach(memory -> finish(scope.user(memory.id()), memory));
    }

    /**
     * Makes {@code memory} in {@code maker}, under a temporary descriptor (System V: under its id), with its contents.
     */
    private void makeWithContent(Maker maker, SharedMemory memory) {
        switch (memory.kind()) {
            case SYSV -> makeSegment(maker, memory);
            case ANONYMOUS -> fill(maker, memory, anonymous(maker, "shared-anonymous", 0));
            case MEMFD -> fill(maker, memory, memfd(maker, memory));
            case DELETED_FILE -> fill(maker, memory, deletedFile(maker, memory));
            case NAMED_FILE -> fill(maker, memory, namedFile(maker, memory));
            case DISK_FILE -> scope.made().add(maker, memory.id(), diskFile(maker, memory));
            case MOUNTED_FILE -> {
            }
        }
    }

    /**
     * Always a new one, in the place of what the former incarnation has left: nobody has it open, and nothing of
     * somebody else's is written to.
     */
    private long namedFile(Maker maker, SharedMemory memory) {
        NewName wanted = scope.name(memory.id());
        long fd = scope.placed().make(wanted, (path, made) -> {
            long opened = scope.openMade(maker, path, Syscall.O_RDWR, made);
            maker.call("chmod " + memory.path(), Syscall.FCHMOD, opened, PlacedNames.mode(wanted, made));
            return opened;
        });
        scope.noteMade(maker, memory);
        return fd;
    }

    /** Its content was put back before (Rollback). */
    private long diskFile(Maker maker, SharedMemory memory) {
        long fd = scope.tryOpen(maker, memory.path(), Syscall.O_RDWR | Syscall.O_CLOEXEC);
        LinuxError.check(fd, maker.name() + ": open " + memory.path());
        scope.verify(maker, memory.path(), fd);
        return fd;
    }

    /** Root makes it again for the user whose it was: who that is, an image of an ordinary user may not say (-1). */
    private static boolean isAnothers(SharedMemory memory) {
        return memory.uid() != -1 && (memory.uid() != 0 || memory.gid() != 0) && Syscall.call(Syscall.GETEUID) == 0;
    }

    /**
     * Where vm.memfd_noexec is 1, one that may be executed, or be made so, has to be asked for; before Linux 6.3 nobody
     * can.
     */
    private static long memfd(Maker maker, SharedMemory memory) {
        String name = memory.path().replaceFirst("^/?memfd:", "");
        if ((memory.seals() & F_SEAL_EXEC) == 0) {
            long fd = maker.tryCall(Syscall.MEMFD_CREATE, maker.string(name),
                    MFD_ALLOW_SEALING | MFD_CLOEXEC | MFD_EXEC);
            boolean executed = (memory.mode() & 0111) != 0;
            if (fd >= 0 || executed && fd != -LinuxError.EINVAL) {
                return LinuxError.check(fd, maker.name() + ": memfd_create " + name
                        + " (EACCES: sysctl vm.memfd_noexec=1 permits those that may be executed)");
            }
        }
        return anonymous(maker, name, MFD_ALLOW_SEALING);
    }

    /** A shared mapping without a name becomes a memfd: it can be handed to the other processes (memfd_create(2)). */
    private static long anonymous(Maker maker, String name, int flags) {
        return maker.call("memfd_create " + name, Syscall.MEMFD_CREATE, maker.string(name), flags | MFD_CLOEXEC);
    }

    /**
     * Made beside its old name, which somebody else may have now, and removed again: so it is in the same file system.
     */
    private long deletedFile(Maker maker, SharedMemory memory) {
        if (memory.path().equals(SharedMemoryKind.HUGE_PAGES)) {
            throw maker.unsupported("shared memory in huge pages (MAP_SHARED | MAP_HUGETLB); use transparent huge "
                    + "pages (madvise MADV_HUGEPAGE) there");
        }
        String path = memory.path();
        int slash = path.lastIndexOf('/');
        if (path.substring(slash + 1).matches("#[0-9]+")) { // never had a name: linkat(2) may still give it one
            long nameless = scope.tryOpen(maker, path.substring(0, slash + 1),
                    Syscall.O_RDWR | Syscall.O_TMPFILE | Syscall.O_CLOEXEC, memory.mode() & 07777);
            if (nameless >= 0) {
                return nameless;
            }
        }
        if (scope.isOwn(maker, path)) {
            return nameless(maker, path);
        }
        return scope.placed().makeNameless(path, (where, made) -> scope.openMade(maker, where, Syscall.O_RDWR, made));
    }

    /** On a file system that nobody else has: under its name, or beside the one that has it now. */
    private long nameless(Maker maker, String path) {
        int flags = Syscall.O_RDWR | Syscall.O_CREAT | Syscall.O_EXCL | Syscall.O_CLOEXEC;
        String name = path;
        long fd = scope.tryOpen(maker, name, flags, 0600);
        for (int other = 1; fd == -LinuxError.EEXIST; other++) {
            name = path + "." + other;
            fd = scope.tryOpen(maker, name, flags, 0600);
        }
        if (fd < 0) {
            throw maker.changed("cannot make " + name + ", which had been deleted: " + LinuxError.name((int) -fd));
        }
        maker.call("remove " + name, Syscall.UNLINKAT, AT_FDCWD, maker.string(name), 0);
        return fd;
    }

    private void fill(Maker maker, SharedMemory memory, long opened) {
        long fd = scope.made().add(maker, memory.id(), opened);
        maker.call("set the size of " + memory.path(), Syscall.FTRUNCATE, fd, memory.size());
        scope.fill(memory, maker, fd);
    }

    /** After all mappings and descriptors exist: modes and seals that would have forbidden making them. */
    private void finish(Maker maker, SharedMemory memory) {
        switch (memory.kind()) {
            case MEMFD -> {
                attributes(maker, memory);
                if (memory.seals() != 0) {
                    maker.call("seal " + memory.path(), Syscall.FCNTL, scope.made().in(maker, memory.id()),
                            F_ADD_SEALS, memory.seals());
                }
            }
            case DELETED_FILE -> attributes(maker, memory);
            case SYSV -> {
                if ((memory.mode() & SHM_DEST) != 0) {
                    maker.call("mark segment " + memory.ipcId() + " for removal", Syscall.SHMCTL, memory.ipcId(),
                            IPC_RMID, 0);
                }
            }
            case NAMED_FILE, ANONYMOUS -> time(maker, memory);
            case DISK_FILE, MOUNTED_FILE -> {
            }
        }
    }

    /** Restores the attributes of unnamed memory: owner, mode (which a new owner may reduce), and time of writing. */
    private void attributes(Maker maker, SharedMemory memory) {
        long fd = scope.made().in(maker, memory.id());
        if (isAnothers(memory)) {
            maker.call("give " + memory.path() + " to user " + memory.uid(), Syscall.FCHOWN, fd, memory.uid(),
                    memory.gid());
        }
        maker.call("chmod " + memory.path(), Syscall.FCHMOD, fd, memory.mode() & 07777);
        time(maker, memory);
    }

    /** Sets the time of writing, where somebody has it open. */
    private void time(Maker maker, SharedMemory memory) {
        Long time = modified.get(memory.id());
        if (time != null) {
            long fd = scope.made().in(maker, memory.id());
            // struct timespec[2]
            long times = maker.structure().i64(0).i64(UTIME_OMIT)
                    .i64(Math.floorDiv(time, SECOND_NS)).i64(Math.floorMod(time, SECOND_NS)).put();
            maker.call("set the time of " + memory.path(), Syscall.UTIMENSAT, fd, 0, times, 0);
        }
    }

    private void makeSegment(Maker maker, SharedMemory segment) {
        String what = "System V segment " + segment.ipcId();
        IpcObject.make(maker, what, "shm_next_id", segment.ipcId(), segment.mode() & 0777,
                flags -> maker.tryCall(Syscall.SHMGET, segment.key(), segment.size(), flags));
        int id = segment.ipcId();
        if (isAnothers(segment)) {
            // struct shmid64_ds (asm-generic/shmbuf.h), of which IPC_SET reads shm_perm:
            // key, uid, gid, cuid, cgid, mode
            long wanted = maker.structure().i32(segment.key()).i32(segment.uid()).i32(segment.gid())
                    .i32(0).i32(0).i32(segment.mode() & 0777).raw(new byte[SHMID_DS_BYTES - 24]).put();
            maker.call("give " + what + " to user " + segment.uid(), Syscall.SHMCTL, id, IPC_SET, wanted);
        }
        long at = maker.call("attach " + what, Syscall.SHMAT, id, 0, 0);
        scope.fillAt(segment, maker, at, what);
        maker.call("detach " + what, Syscall.SHMDT, at); // its address may be one that the job's mappings need
    }
}
