package org.udckpt.process.restore;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.Files;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.NewNames;
import org.udckpt.process.kinds.base.MadeObjects;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.OpenFile;
import org.udckpt.process.model.SharedMemory;
import org.udckpt.process.names.NewName;
import org.udckpt.process.names.PlacedNames;

/** What a restore offers to the kinds. */
record ObjectScope(Descriptors descriptors, JobImage image, Handles handles, NamedFiles files, NewNames names,
        PlacedNames placed, RestoreTarget target, ProcessTree tree, SharedContents contents, LazyProcesses lazy)
        implements
            RestoreScope {
    @Override
    public Maker maker(long object) {
        return descriptors.maker(object);
    }

    @Override
    public Maker process(int pid) {
        return descriptors.tracee(pid);
    }

    @Override
    public NewName name(long object) {
        return names.of(object);
    }

    @Override
    public void warn(String what) {
        target.warn(what);
    }

    @Override
    public int openSeen(Maker maker, String path) {
        return files.openSeen((Tracee) maker, path);
    }

    @Override
    public long tryOpenSeen(Maker maker, String path, int flags, long object) {
        return files.tryOpenSeen((Tracee) maker, path, flags, files.views().from(object));
    }

    @Override
    public long tryOpenFor(Maker maker, String path, int flags, long object) {
        return files.tryOpen((Tracee) maker, path, flags, 0, files.views().from(object));
    }

    @Override
    public long tryOpen(Maker maker, String path, int flags, int mode) {
        return files.tryOpen((Tracee) maker, path, flags, mode);
    }

    @Override
    public void verify(Maker maker, String path, long fd) {
        files.verify(files.views().outside(maker.pid(), path), NamedFiles.stat((Tracee) maker, fd));
    }

    @Override
    public boolean same(Maker maker, long one, long other) {
        return NamedFiles.stat((Tracee) maker, one).isSame(NamedFiles.stat((Tracee) maker, other));
    }

    @Override
    public Maker user(long memory) {
        return descriptors.user(memory);
    }

    @Override
    public void fill(SharedMemory memory, Maker maker, long fd) {
        contents.fill(memory, (Tracee) maker, fd);
    }

    @Override
    public void fillHere(SharedMemory memory, int fd) {
        contents.fillHere(memory, fd);
    }

    @Override
    public long give(Maker maker, int descriptor) {
        return Handover.give((Tracee) maker, List.of(descriptor))[0];
    }

    @Override
    public boolean isOwn(Maker maker, String path) {
        return files.views().outside(maker.pid(), path) == null;
    }

    @Override
    public String outside(Maker maker, String path) {
        if (files.views().namespace(maker.pid()) == 0) {
            return path;
        }
        int file = Files.open(path, Syscall.O_PATH);
        try {
            return Files.ofDescriptor((int) give(maker, file));
        } finally {
            Files.close(file);
        }
    }

    @Override
    public void fillAt(SharedMemory memory, Maker maker, long address, String what) {
        contents.fillAt(memory, (Tracee) maker, address, what);
    }

    @Override
    public void noteMade(Maker maker, SharedMemory memory) {
        contents.noteMade((Tracee) maker, memory);
    }

    @Override
    public boolean verified(String path) {
        return files.verified(path);
    }

    @Override
    public void verify(Maker maker, OpenFile file, long fd) {
        files.verify(file, NamedFiles.stat((Tracee) maker, fd));
    }

    @Override
    public long openMade(Maker maker, String path, int flags, Files.Stat stat) {
        return NamedFiles.openMade((Tracee) maker, path, flags, stat);
    }

    @Override
    public long openDirectory(Maker maker, String path, Files.Stat stat) {
        return NamedFiles.openDirectory((Tracee) maker, path, stat);
    }

    @Override
    public void write(Maker maker, long address, byte[] value) {
        Tracee tracee = (Tracee) maker;
        lazy.need(tracee, address & -4096L, address + value.length);
        tracee.memory().writeBytes(address, value);
    }

    @Override
    public int endingChild(long key) {
        return tree.endingChild(key);
    }

    @Override
    public Map<Integer, ? extends Maker> makers() {
        return tree.makers();
    }

    @Override
    public long stream(int number) {
        return tree.streams()[number];
    }

    @Override
    public Path agentSocket() {
        return target.agentSocket();
    }

    @Override
    public long processManager(Maker maker, byte[] queued) {
        int number = target.pmi(maker.rank(), queued);
        long fd = maker.fetch(tree.shepherd(), number);
        target.taken(number);
        return fd;
    }

    @Override
    public RestoreException inconsistent(String what) {
        return new RestoreException(RestoreException.Reason.FAILED, what);
    }

    @Override
    public MadeObjects made() {
        return handles;
    }
}
