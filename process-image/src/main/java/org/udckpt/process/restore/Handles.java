package org.udckpt.process.restore;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeSet;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.MadeObjects;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.model.AttributeKind;
import org.udckpt.process.model.Descriptor;
import org.udckpt.process.model.DescriptorNumbers;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.SharedTables;
import org.udckpt.process.model.UserNamespaceMember;

/**
 * Which tracee holds which kernel object, under which descriptor number. An object is made once; a second process gets
 * the same open file description by pidfd_getfd(2), as if it had been inherited.
 *
 * <p>All numbers of the job are taken from the beginning by placeholders, so that what is opened gets one that the job
 * does not use, and takes its own as soon as it has one in that process. So few more numbers are needed than the job
 * has ({@link DescriptorNumbers}).
 */
final class Handles implements MadeObjects {
    private static final int STREAMS = 3;

    private final DescriptorNumbers numbers;
    /** pid -> object id -> the lowest number that it has there */
    private final Map<Integer, Map<Long, Integer>> own = new HashMap<>();
    /** pid -> all its numbers */
    private final Map<Integer, NavigableSet<Integer>> all = new HashMap<>();
    private final SharedTables tables;
    /** By the pid of the process whose table it is: through which it is used. */
    private final Map<Integer, Maker> users = new HashMap<>();
    /** By pid, the user namespace of the job's own. */
    private final Map<Integer, Long> namespaces = new HashMap<>();
    /** object id -> (tracee -> descriptor), the maker first; of those with one table {@link #user} */
    private final Map<Long, Map<Maker, Long>> held = new HashMap<>();

    Handles(JobImage image) {
        tables = SharedTables.of(image, AttributeKind.SHARED_DESCRIPTORS);
        for (Descriptor descriptor : tables.once(image.descriptors())) {
            own.computeIfAbsent(descriptor.pid(), pid -> new HashMap<>()).merge(descriptor.object(), descriptor.fd(),
                    Math::min);
            all.computeIfAbsent(descriptor.pid(), pid -> new TreeSet<>()).add(descriptor.fd());
        }
        image.objects().stream().filter(UserNamespaceMember.class::isInstance).map(UserNamespaceMember.class::cast)
                .forEach(member -> namespaces.put(member.pid(), member.userNamespace()));
        numbers = DescriptorNumbers.of(image.descriptors(), image.objects(), image.terminals());
    }

    /**
     * Takes all numbers of the job in a process that has no descriptors but the launcher's streams; before it has
     * children.
     *
     * @return where those streams are now
     */
    long[] prepare(Tracee tracee) {
        long limit = ProcessAttributes.raiseLimits(tracee, numbers.enough());
        String refusal = numbers.refusal(limit);
        if (refusal != null) {
            throw tracee.unsupported("the job " + refusal);
        }
        long[] streams = new long[STREAMS];
        int free = STREAMS;
        for (int stream = 0; stream < STREAMS; stream++, free++) {
            while (numbers.used().contains(free)) {
                free++;
            }
            streams[stream] = free;
        }
        Batch batch = new Batch(tracee);
        for (int stream = 0; stream < STREAMS; stream++) {
            int number = stream;
            batch.add(() -> "move stream " + number, Syscall.DUP3, stream, streams[stream], Syscall.O_CLOEXEC);
        }
        batch.add(() -> "close the launcher's streams", Syscall.CLOSE_RANGE, 0, STREAMS - 1, 0);
        for (int number : numbers.used()) {
            if (batch.full(1, 0)) {
                batch.run();
            }
            batch.add(() -> "take number " + number, Syscall.DUP3, streams[0], number, Syscall.O_CLOEXEC);
        }
        batch.run();
        return streams;
    }

    /** The one of those with its table that stands for all. */
    private Maker user(Maker maker) {
        return users.computeIfAbsent(tables.first(maker.pid()), _ -> maker);
    }

    /** Takes a descriptor that {@code tracee} has just opened; returns the number that it has from now on. */
    @Override
    public long add(Maker maker, long id, long fd) {
        Tracee tracee = (Tracee) maker; // who makes something in a restore is one
        Integer number = own.getOrDefault(tables.first(tracee.pid()), Map.of()).get(id);
        if (number != null) {
            move(tracee, fd, number);
        }
        long at = number == null ? fd : number;
        held.computeIfAbsent(id, key -> new LinkedHashMap<>()).put(user(tracee), at);
        return at;
    }

    private static void move(Tracee tracee, long from, long to) {
        Batch batch = new Batch(tracee);
        batch.add(() -> "descriptor " + to, Syscall.DUP3, from, to, Syscall.O_CLOEXEC);
        batch.close(from);
        batch.run();
    }

    @Override
    public boolean known(long id) {
        return held.containsKey(id);
    }

    /** The object's descriptor in {@code tracee}, fetched from its maker when needed. */
    @Override
    public long in(Maker tracee, long id) {
        Map<Maker, Long> holders = held.get(id);
        if (holders == null) {
            throw tracee.failed("object " + id + " of the image is used before it is created");
        }
        Long here = holders.get(user(tracee));
        if (here != null) {
            return here;
        }
        Map.Entry<Maker, Long> maker = holders.entrySet().iterator().next();
        return add(tracee, id, tracee.fetch(maker.getKey().pid(), maker.getValue()));
    }

    /** Whether namespaces that the job has made let one process not fetch from the other. */
    private boolean apart(Maker one, Maker other) {
        return one.own(other.pid()) == 0
                || !namespaces.getOrDefault(one.pid(), 0L).equals(namespaces.getOrDefault(other.pid(), 0L));
    }

    /** Who holds the object has it open for reading only from now on. */
    void reopenForReading(long id) {
        held.get(id).forEach((maker, number) -> {
            Tracee tracee = (Tracee) maker;
            long again = LinuxError.check(tracee.reopen(number, Syscall.O_RDONLY | Syscall.O_CLOEXEC),
                    tracee.name() + ": open for reading");
            move(tracee, again, number);
        });
    }

    /**
     * As {@link #in} for all objects of which this process has a descriptor: with a stop for a hundred of them, where
     * it takes ten for one.
     */
    void fetchAll(Tracee tracee) {
        if (tables.shares(tracee.pid())) {
            return; // its parent's
        }
        Map<Maker, List<Long>> makers = new LinkedHashMap<>();
        for (long id : own.getOrDefault(tracee.pid(), Map.of()).keySet()) {
            Map<Maker, Long> holders = held.getOrDefault(id, Map.of());
            if (!holders.isEmpty() && !holders.containsKey(user(tracee))) {
                makers.computeIfAbsent(holders.keySet().iterator().next(), _ -> new ArrayList<>()).add(id);
            }
        }
        makers.forEach((maker, ids) -> fetchAll(tracee, maker, ids));
    }

    /**
     * Fetches descriptors in one batch. Each opens at the lowest free number (open(2)), and is moved to its own number
     * at once: so that is the same number each time.
     */
    private void fetchAll(Tracee tracee, Maker maker, List<Long> ids) {
        if (apart(tracee, maker)) {
            long[] passed = Handover.pass(tracee, maker.hostPid(),
                    ids.stream().map(id -> held.get(id).get(maker)).toList());
            for (int i = 0; i < passed.length; i++) {
                add(tracee, ids.get(i), passed[i]);
            }
            return;
        }
        long handle = tracee.call("pidfd_open " + maker.pid(), Syscall.PIDFD_OPEN, tracee.own(maker.pid()), 0);
        long free = tracee.call("dup", Syscall.FCNTL, handle, 0 /* F_DUPFD */, 0);
        tracee.call("close", Syscall.CLOSE, free);
        Batch batch = new Batch(tracee);
        List<Integer> fetched = new ArrayList<>();
        for (long id : ids) {
            int number = own.get(tracee.pid()).get(id);
            long there = held.get(id).get(maker);
            fetched.add(batch.add(() -> "pidfd_getfd " + there + " of process " + maker.pid(), Syscall.PIDFD_GETFD,
                    handle, there, 0));
            batch.add(() -> "descriptor " + number, Syscall.DUP3, free, number, Syscall.O_CLOEXEC);
            batch.close(free);
            held.get(id).put(user(tracee), (long) number);
            if (batch.full(3, 0)) {
                run(tracee, batch, fetched, free);
            }
        }
        run(tracee, batch, fetched, free);
        tracee.call("close", Syscall.CLOSE, handle);
    }

    private static void run(Tracee tracee, Batch batch, List<Integer> fetched, long free) {
        batch.run();
        for (int place : fetched) {
            if (batch.result(place) != free) {
                throw tracee.failed(
                        "a descriptor was given number " + batch.result(place) + ", where " + free + " was free");
            }
        }
        fetched.clear();
    }

    /** Closes all that is not the job's. */
    void closeTemporaries(Tracee tracee) {
        if (tables.shares(tracee.pid())) {
            return; // its parent's
        }
        Collection<Integer> kept = all.getOrDefault(tracee.pid(), new TreeSet<>());
        Batch batch = new Batch(tracee);
        long next = 0;
        for (int number : kept) {
            if (number > next) {
                close(batch, next, number - 1);
            }
            next = number + 1L;
        }
        close(batch, next, 0xffff_ffffL);
        batch.run();
    }

    private static void close(Batch batch, long first, long last) {
        if (batch.full(1, 0)) {
            batch.run();
        }
        batch.add(() -> "close the restore's descriptors", Syscall.CLOSE_RANGE, first, last, 0);
    }
}
