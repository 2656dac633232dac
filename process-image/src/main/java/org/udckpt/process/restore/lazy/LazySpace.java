package org.udckpt.process.restore.lazy;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.MappingFlags;
import org.udckpt.process.model.MemorySource;

/**
 * One address space with missing pages. What the job does to it is told before it takes effect or while the thread that
 * did it waits, and that thread goes on as soon as the event is read. So events are read and taken into account under
 * the write lock, and pages are put in under the read lock, after another look at what is missing: no page can come in
 * between the two, when the event is read and {@link #missing} does not know it yet. From the event's beginning until
 * it is read, the kernel lets no page in either (EAGAIN, ioctl_userfaultfd(2)).
 */
final class LazySpace {
    private static final long PAGE = 4096;
    private static final long AGAIN_NS = 20_000;

    final Userfault context;
    final Missing missing;
    private final int key;
    /** 0: not known, of a child. */
    private final int hostPid;
    private final MemorySource source;
    private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
    /**
     * What mremap(2) left behind; its own event of the unmapping says nothing new, and may come after others have moved
     * there.
     */
    private final List<UserfaultEvent.Unmap> leftBehind = new ArrayList<>();
    private volatile boolean gone;

    LazySpace(Userfault context, int key, int hostPid, Missing missing, MemorySource source) {
        this.context = context;
        this.key = key;
        this.hostPid = hostPid;
        this.missing = missing;
        this.source = source;
    }

    /** Whether nothing is left to do: all memory is in, or the process has ended or executed another program. */
    boolean done() {
        return gone || missing.bytes() == 0;
    }

    /** Nothing waits for it any more: who still waits goes on when the shepherd has let go as well. */
    void release(Keeper keeper) {
        lock.writeLock().lock();
        try {
            gone = true;
            keeper.release(key);
            context.close();
        } finally {
            lock.writeLock().unlock();
        }
    }

    /**
     * The faults, for which somebody has to {@link #serve}, and the children. Everything else is taken into account
     * here.
     */
    List<UserfaultEvent> events(Keeper keeper, List<LazySpace> children) {
        lock.writeLock().lock();
        try {
            List<UserfaultEvent> faults = new ArrayList<>();
            for (UserfaultEvent event : keeper.read(key)) {
                switch (event) {
                    case UserfaultEvent.Fault fault -> faults.add(fault);
                    case UserfaultEvent.Fork fork -> children
                            .add(new LazySpace(fork.child(), fork.key(), 0, missingInChild(), source));
                    case UserfaultEvent.Remap remap -> {
                        missing.move(remap.from(), remap.to(), remap.length());
                        leftBehind.add(new UserfaultEvent.Unmap(remap.from(), remap.from() + remap.length()));
                    }
                    case UserfaultEvent.Remove remove -> missing.remove(remove.start(), remove.end());
                    case UserfaultEvent.Unmap unmap -> {
                        if (!leftBehind.remove(unmap)) {
                            missing.remove(unmap.start(), unmap.end());
                        }
                    }
                }
            }
            return faults;
        } finally {
            lock.writeLock().unlock();
        }
    }

    /**
     * Its parent's thread waits in fork(2): what of its memory is wiped in children (MADV_WIPEONFORK) is zero there,
     * also where it is missing.
     */
    private Missing missingInChild() {
        Missing child = missing.copy();
        if (hostPid != 0) {
            try {
                MappingFlags.of(hostPid).stream().filter(mapping -> mapping.has(MappingFlags.WIPED))
                        .forEach(mapping -> child.remove(mapping.start(), mapping.end()));
            } catch (LinuxError ended) {
                if (ended.errno() != LinuxError.ESRCH && ended.errno() != LinuxError.ENOENT) {
                    throw ended;
                } // it was killed, and its fork with it
            }
        }
        return child;
    }

    /** Makes the page with this address be there, and wakes who waits for it. */
    void serve(long address, MemorySegment buffer) {
        long page = address & -PAGE;
        while (!gone) {
            Missing.Part part = missing.at(page);
            if (part != null) {
                fill(part, buffer);
            } else if (zero(page)) {
                return;
            } else {
                LockSupport.parkNanos(AGAIN_NS);
            }
        }
    }

    /** Its process is being killed: nothing more goes in. Only when nobody hears its events any more. */
    void giveUp() {
        gone = true;
    }

    /** Reads a part, of one piece of the image at most, and puts in what is missing of it still. */
    void fill(Missing.Part part, MemorySegment buffer) {
        MemorySegment bytes = buffer.asSlice(0, part.bytes());
        source.read(part.offset(), bytes);
        for (long done = 0; done < part.bytes() && !gone;) {
            long n = put(new Missing.Part(part.start() + done, part.end(), part.bias(), part.origin()),
                    bytes.address() + done);
            if (n == 0) {
                LockSupport.parkNanos(AGAIN_NS); // an event waits to be read
            }
            done += n;
        }
    }

    /** Returns the bytes that are dealt with, 0: to be tried again. */
    private long put(Missing.Part part, long bytes) {
        lock.readLock().lock();
        try {
            long still = missing.still(part);
            if (still == 0 || gone) {
                return PAGE;
            }
            long result = context.copy(part.start(), bytes, still);
            for (long tried = still; result == -LinuxError.ENOENT && tried > PAGE;) {
                // not one mapping any more; what is left of it is found by halves
                tried = Math.max(PAGE, tried / 2 & -PAGE);
                result = context.copy(part.start(), bytes, tried);
            }
            return reached(part.start(), result);
        } finally {
            lock.readLock().unlock();
        }
    }

    /** A page that is there already, or is not registered (a new mapping at the same place), is no longer missing. */
    private long reached(long start, long result) {
        if (result == -LinuxError.EAGAIN) {
            return 0;
        }
        if (result == -LinuxError.ESRCH) {
            gone = true;
            return PAGE;
        }
        boolean passed = result == -LinuxError.EEXIST || result == -LinuxError.ENOENT;
        long bytes = passed ? PAGE : LinuxError.check(result, "fill memory at 0x" + Long.toHexString(start));
        missing.remove(start, start + bytes);
        return bytes;
    }

    /**
     * False: to be tried again. Takes in the pages behind too, that are as empty: a job that fills fresh memory waits
     * for few of them.
     */
    private boolean zero(long page) {
        lock.readLock().lock();
        try {
            if (missing.at(page) != null || gone) {
                return gone;
            }
            long bytes = Math.min(Missing.PIECE, missing.nextStart(page) - page);
            long result = context.zero(page, bytes);
            while (result == -LinuxError.ENOENT && bytes > PAGE) {
                bytes = Math.max(PAGE, bytes / 2 & -PAGE);
                result = context.zero(page, bytes);
            }
            if (result == -LinuxError.ESRCH) {
                gone = true;
            } else if (result == -LinuxError.EEXIST || result == -LinuxError.ENOENT) {
                context.wake(page, PAGE);
            } else if (result != -LinuxError.EAGAIN) {
                LinuxError.check(result, "fill memory at 0x" + Long.toHexString(page) + " with zeros");
            }
            return result != -LinuxError.EAGAIN;
        } finally {
            lock.readLock().unlock();
        }
    }
}
