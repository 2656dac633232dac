package org.udckpt.process.restore;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.PidFd;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.KernelObject.OpenFile;
import org.udckpt.process.model.KernelObject.SharedMemory;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.names.NewName;
import org.udckpt.process.names.NewNames;
import org.udckpt.process.names.PlacedNames;

/** Makes the shared segments and files whose contents are in the image, and fills them. */
final class SharedMemories {
    private static final int FCHMOD = 91, SHMID_DS_BYTES = 112;
    private static final long UTIME_OMIT = 0x3fff_fffe, SECOND_NS = 1_000_000_000L;

    private final Handles handles;
    private final NamedFiles files;
    private final NewNames names;
    private final PlacedNames placed;
    private final Map<Long, MemorySource> sources;
    private final Pages pages;
    private final PrivateFiles.Place changes;
    /** When each was written to last, by id, as who has it open sees. */
    private final Map<Long, Long> modified = new HashMap<>();

    /** @param changes {@link RestoreTarget#changes} */
    SharedMemories(JobImage image, Handles handles, NamedFiles files, NewNames names, PlacedNames placed, Map<Long, MemorySource> sources, Pages pages, PrivateFiles.Place changes) {
        image.objects().stream().filter(OpenFile.class::isInstance).map(OpenFile.class::cast).forEach(file -> modified.put(file.backing(), file.modifiedNs()));
        this.changes = changes;
        this.handles = handles;
        this.files = files;
        this.names = names;
        this.placed = placed;
        this.sources = sources;
        this.pages = pages;
    }

    /** Makes {@code memory} in {@code maker}, under a temporary descriptor (System V: under its id), with its contents. */
    void make(Puppet maker, SharedMemory memory) {
        switch (memory.kind()) {
            case SYSV -> makeSegment(maker, memory);
            case ANONYMOUS -> fill(maker, memory, anonymous(maker, "shared-anonymous", 0));
            case MEMFD -> fill(maker, memory, anonymous(maker, memory.path().replaceFirst("^/?memfd:", ""), 2 /* MFD_ALLOW_SEALING */));
            case DELETED_FILE -> fill(maker, memory, deletedFile(maker, memory));
            case NAMED_FILE -> fill(maker, memory, namedFile(maker, memory));
            case DISK_FILE -> handles.add(maker, memory.id(), diskFile(maker, memory));
        }
    }

    /** Always a new one, in the place of what the former life has left: nobody has it open, and nothing of somebody else's is written to. */
    private long namedFile(Puppet maker, SharedMemory memory) {
        NewName wanted = names.of(memory.id());
        long fd = placed.make(wanted, (path, made) -> {
            long opened = NamedFiles.openMade(maker, path, Syscall.O_RDWR, made);
            maker.call("chmod " + memory.path(), FCHMOD, opened, PlacedNames.mode(wanted, made));
            return opened;
        });
        remember(maker, memory);
        return fd;
    }

    /** Its content was put back before (Rollback). */
    private long diskFile(Puppet maker, SharedMemory memory) {
        long fd = files.tryOpen(maker, memory.path(), Syscall.O_RDWR | Syscall.O_CLOEXEC, 0);
        LinuxError.check(fd, maker.name() + ": open " + memory.path());
        files.verify(memory.path(), NamedFiles.stat(maker, fd));
        return fd;
    }

    private void remember(Puppet maker, SharedMemory memory) {
        if (changes == null) {
            return; // it is the job's again, which removes it or not
        }
        try {
            PrivateFiles.made(changes, memory);
        } catch (IOException e) {
            throw maker.failed("that " + memory.path() + " has to be removed again could not be noted: " + e.getMessage());
        }
    }

    /** Root makes it again for the user whose it was: who that is, an image of an ordinary user may not say (-1). */
    private static boolean isAnothers(SharedMemory memory) {
        return memory.uid() != -1 && (memory.uid() != 0 || memory.gid() != 0) && Syscall.call(107 /* geteuid */) == 0;
    }

    /** A shared mapping without a name becomes a memfd: it can be handed to the other processes (memfd_create(2)). */
    private static long anonymous(Puppet maker, String name, int flags) {
        return maker.call("memfd_create " + name, Syscall.MEMFD_CREATE, maker.string(name), flags | 1 /* MFD_CLOEXEC */);
    }

    /** Made beside its old name, which somebody else may have now, and removed again: so it is in the same file system. */
    private long deletedFile(Puppet maker, SharedMemory memory) {
        if (memory.path().equals(AddressSpace.HUGE_PAGES)) {
            throw maker.unsupported("shared memory in huge pages (MAP_SHARED | MAP_HUGETLB); use transparent huge pages (madvise MADV_HUGEPAGE) there");
        }
        String path = memory.path();
        int slash = path.lastIndexOf('/');
        if (path.substring(slash + 1).matches("#[0-9]+")) { // never had a name: linkat(2) may still give it one
            long nameless = files.tryOpen(maker, path.substring(0, slash + 1), Syscall.O_RDWR | Syscall.O_TMPFILE | Syscall.O_CLOEXEC, memory.mode() & 07777);
            if (nameless >= 0) {
                return nameless;
            }
        }
        return placed.makeNameless(path, (where, made) -> NamedFiles.openMade(maker, where, Syscall.O_RDWR, made));
    }

    private void fill(Puppet maker, SharedMemory memory, long opened) {
        long fd = handles.add(maker, memory.id(), opened);
        maker.call("set the size of " + memory.path(), Syscall.FTRUNCATE, fd, memory.size());
        MemorySource source = sources.get(memory.id());
        if (source == null) {
            return; // empty: all of it reads as zero
        }
        try (PidFd process = new PidFd(maker.hostPid())) {
            pages.fillFile(source, process.duplicate((int) fd), memory);
        }
    }

    /** After all mappings and descriptors exist: modes and seals that would have forbidden making them. */
    void finish(Puppet maker, SharedMemory memory) {
        switch (memory.kind()) {
            case MEMFD -> {
                attributes(maker, memory);
                if (memory.seals() != 0) {
                    maker.call("seal " + memory.path(), Syscall.FCNTL, handles.in(maker, memory.id()), 1033 /* F_ADD_SEALS */, memory.seals());
                }
            }
            case DELETED_FILE -> attributes(maker, memory);
            case SYSV -> {
                if ((memory.mode() & 01000 /* SHM_DEST */) != 0) {
                    maker.call("mark segment " + memory.ipcId() + " for removal", Syscall.SHMCTL, memory.ipcId(), 0 /* IPC_RMID */, 0);
                }
            }
            case ANONYMOUS, NAMED_FILE, DISK_FILE -> { }
        }
    }

    /** Of what has no name: owner, mode (which a new owner cuts down), and when it was written to. */
    private void attributes(Puppet maker, SharedMemory memory) {
        long fd = handles.in(maker, memory.id());
        if (isAnothers(memory)) {
            maker.call("give " + memory.path() + " to user " + memory.uid(), Syscall.FCHOWN, fd, memory.uid(), memory.gid());
        }
        maker.call("chmod " + memory.path(), FCHMOD, fd, memory.mode() & 07777);
        Long time = modified.get(memory.id());
        if (time != null) {
            long times = maker.structure().i64(0).i64(UTIME_OMIT).i64(Math.floorDiv(time, SECOND_NS)).i64(Math.floorMod(time, SECOND_NS)).put(); // struct timespec[2]
            maker.call("set the time of " + memory.path(), Syscall.UTIMENSAT, fd, 0, times, 0);
        }
    }

    /** shmget(2) with a chosen id: /proc/sys/kernel/shm_next_id (needs CAP_CHECKPOINT_RESTORE over the ipc namespace). */
    private void makeSegment(Puppet maker, SharedMemory segment) {
        String what = "System V segment " + segment.ipcId();
        String sysctl = "/proc/sys/kernel/shm_next_id";
        long fd = maker.call("open " + sysctl, Syscall.OPEN, maker.string(sysctl), Syscall.O_WRONLY | Syscall.O_CLOEXEC, 0);
        byte[] text = Integer.toString(segment.ipcId()).getBytes(java.nio.charset.StandardCharsets.US_ASCII);
        maker.call("write " + sysctl, Syscall.WRITE, fd, maker.bytes(text), text.length);
        maker.call("close", Syscall.CLOSE, fd);
        long id = maker.call("make " + what, Syscall.SHMGET, segment.key(), segment.size(), 01000 | 02000 | segment.mode() & 0777);
        if (id != segment.ipcId()) {
            throw maker.failed(what + ": the kernel gave id " + id);
        }
        if (isAnothers(segment)) {
            // struct shmid64_ds (asm-generic/shmbuf.h), of which IPC_SET reads shm_perm: key, uid, gid, cuid, cgid, mode
            long wanted = maker.structure().i32(segment.key()).i32(segment.uid()).i32(segment.gid()).i32(0).i32(0).i32(segment.mode() & 0777).raw(new byte[SHMID_DS_BYTES - 24]).put();
            maker.call("give " + what + " to user " + segment.uid(), Syscall.SHMCTL, id, 1 /* IPC_SET */, wanted);
        }
        long at = maker.call("attach " + what, Syscall.SHMAT, id, 0, 0);
        MemorySource source = sources.get(segment.id());
        if (source != null) {
            pages.fillMemory(source, maker.memory(), at, what);
            pages.await();
        }
        maker.call("detach " + what, Syscall.SHMDT, at); // its address may be one that the job's mappings need
    }
}
