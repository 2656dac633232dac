package org.udckpt.image.storage;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import org.udckpt.image.Range;

/**
 * A local file system of which one call fails, or is the last one before a crash. A crash also takes with it what was
 * not durable: of a file that was not synced a random part remains, and of files and names made since their
 * directory was last synced some are gone, which is what fsync(2) allows.
 */
public final class FaultyStorage implements StorageIo.Session {
    public enum Fault {
        FAIL, TEAR, CRASH
    }

    private final StorageIo real;
    /** Whose calls are counted: sessions are as one. */
    private final FaultyStorage all;
    private final Site site;
    private final Fault fault;
    private final Random random;
    private boolean hit;
    private final Map<Path, Boolean> unsynced = new ConcurrentHashMap<>();
    private final Map<Path, Path> unsyncedNames = new ConcurrentHashMap<>();
    private final List<String> log = new ArrayList<>();
    volatile boolean crashed;

    /** The n-th call of one name: calls of different threads come in no fixed order, those of one name do. */
    public record Site(String call, int nth) {
        /** Whether half of it can be done; a {@link Fault#TEAR} of another call is a {@link Fault#FAIL}. */
        public boolean canTear() {
            return call.startsWith("append ");
        }
    }

    /**
     * @param site where the fault happens; null for never
     */
    public FaultyStorage(Site site, Fault fault, long seed) {
        this.real = LocalStorage.INSTANCE;
        this.all = this;
        this.site = site;
        this.fault = fault;
        this.random = new Random(seed);
    }

    private FaultyStorage(FaultyStorage all, StorageIo real) {
        this.real = real;
        this.all = all;
        this.site = all.site;
        this.fault = all.fault;
        this.random = all.random;
    }

    @Override
    public Session session() {
        return new FaultyStorage(all, real.session());
    }

    @Override
    public void close() throws IOException {
        if (real instanceof Session held) {
            held.close();
        }
    }

    @Override
    public boolean hasDirectory(Path directory) throws IOException {
        enter("look for directory " + directory.getFileName(), false);
        return real.hasDirectory(directory);
    }

    @Override
    public void makeDirectories(Path directory) throws IOException {
        enter("make directories " + directory.getFileName(), false);
        real.makeDirectories(directory);
    }

    @Override
    public Kind kind(Path path) throws IOException {
        enter("look at " + path.getFileName(), false);
        return real.kind(path);
    }

    /** Every call so far as a place for a fault. */
    public synchronized List<Site> sites() {
        List<Site> sites = new ArrayList<>();
        Map<String, Integer> counts = new HashMap<>();
        log.forEach(call -> sites.add(new Site(call, counts.merge(call, 1, Integer::sum))));
        return sites;
    }

    public synchronized boolean hit() {
        return hit;
    }

    /** The calls in order; those after a fault are the clean-up. */
    public synchronized List<String> log() {
        return List.copyOf(log);
    }

    /** Counts a call; true when this one is to be torn. */
    private boolean enter(String what, boolean canTear) throws IOException {
        return all.count(what, canTear);
    }

    private synchronized boolean count(String what, boolean canTear) throws IOException {
        if (crashed) {
            throw new IOException("after the crash: " + what);
        }
        log.add(what);
        if (hit || site == null || !what.equals(site.call) || log.stream().filter(what::equals).count() != site.nth) {
            return false;
        }
        hit = true;
        switch (fault) {
            case FAIL -> throw new IOException("injected: " + what);
            case TEAR -> {
                if (canTear) {
                    return true;
                }
                throw new IOException("injected: " + what);
            }
            case CRASH -> {
                crashed = true;
                loseWhatIsNotDurable();
                throw new IOException("crash: " + what);
            }
        }
        return false;
    }

    private void loseWhatIsNotDurable() throws IOException {
        for (Path file : unsynced.keySet()) {
            if (Files.exists(file)) {
                try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                    channel.truncate(random.nextLong(channel.size() + 1));
                }
            }
        }
        for (Map.Entry<Path, Path> name : unsyncedNames.entrySet()) {
            // Either the name had not reached the disk, or it had.
            if (random.nextBoolean() && Files.isRegularFile(name.getKey())) {
                if (name.getValue().equals(name.getKey())) {
                    Files.delete(name.getKey());
                } else {
                    Files.move(name.getKey(), name.getValue());
                }
            }
        }
    }

    @Override
    public void createDirectory(Path directory) throws IOException {
        enter("mkdir " + directory.getFileName(), false);
        real.createDirectory(directory);
    }

    @Override
    public Output create(Path file, boolean direct) throws IOException {
        enter("create " + file.getFileName(), false);
        Output output = real.create(file, direct);
        all.unsynced.put(file, true);
        all.unsyncedNames.put(file, file);
        return new FaultyOutput(file, output);
    }

    @Override
    public Input open(Path file) throws IOException {
        enter("open " + file.getFileName(), false);
        return real.open(file);
    }

    @Override
    public void rename(Path from, Path to) throws IOException {
        enter("rename " + to.getFileName(), false);
        boolean replaces = Files.exists(to);
        real.rename(from, to);
        all.unsyncedNames.remove(from);
        if (!replaces) {
            all.unsyncedNames.put(to, from);
        }
        if (all.unsynced.remove(from) != null) {
            all.unsynced.put(to, true);
        }
    }

    @Override
    public void syncDirectory(Path directory) throws IOException {
        enter("sync directory " + directory.getFileName(), false);
        real.syncDirectory(directory);
        all.unsyncedNames.keySet().removeIf(name -> name.getParent().equals(directory));
    }

    @Override
    public void delete(Path path) throws IOException {
        enter("delete " + path.getFileName(), false);
        real.delete(path);
        all.unsynced.remove(path);
        all.unsyncedNames.remove(path);
    }

    @Override
    public List<Path> list(Path directory) throws IOException {
        enter("list " + directory.getFileName(), false);
        return real.list(directory);
    }

    @Override
    public Closeable hold(Path file) throws IOException {
        enter("hold " + file.getFileName(), false);
        return real.hold(file);
    }

    @Override
    public Optional<Closeable> exclude(Path file) throws IOException {
        enter("exclude " + file.getFileName(), false);
        return real.exclude(file);
    }

    @Override
    public Closeable lock(Path file) throws IOException {
        enter("lock " + file.getFileName(), false);
        return real.lock(file);
    }

    private final class FaultyOutput implements Output {
        private final Path file;
        private final Output output;

        FaultyOutput(Path file, Output output) {
            this.file = file;
            this.output = output;
        }

        @Override
        public boolean direct() {
            return output.direct();
        }

        @Override
        public void append(ByteBuffer[] buffers, int count) throws IOException {
            boolean torn = enter("append to " + file.getFileName(), true);
            all.unsynced.put(file, true);
            if (torn) {
                ByteBuffer first = buffers[0].duplicate();
                int half = first.remaining() / 2;
                first.limit(first.position() + (direct() ? half & -Range.PAGE : half));
                output.append(new ByteBuffer[]{first}, 1);
                throw new IOException("injected: half an append to " + file.getFileName());
            }
            output.append(buffers, count);
        }

        @Override
        public void sync() throws IOException {
            enter("sync " + file.getFileName(), false);
            output.sync();
            all.unsynced.remove(file);
        }

        @Override
        public long length() throws IOException {
            enter("length of " + file.getFileName(), false);
            return output.length();
        }

        @Override
        public void close() throws IOException {
            // The descriptor must go also when the call is to fail.
            try {
                enter("close " + file.getFileName(), false);
            } finally {
                output.close();
            }
        }
    }
}
