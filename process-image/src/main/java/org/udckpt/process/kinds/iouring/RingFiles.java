package org.udckpt.process.kinds.iouring;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.udckpt.process.kinds.base.OpenDescriptor;

/**
 * Registered files of rings. The kernel shows their paths; which open files they are, descriptors of the job tell: the
 * one that a file was registered from (the library has noted it), while it still has that path, and of a socket, whose
 * name is its own, any.
 */
final class RingFiles {
    /** A place and a path, or {@code <none>}. */
    private static final Pattern FILE = Pattern.compile("\\s*(\\d+): (.*)");
    private static final String SOCKET = "socket:[";

    /** A place that has a file: what the kernel calls it, and the descriptor that it came from; -1: not known. */
    private record Registered(int place, String path, int fd) {}

    private record Ring(long id, OpenDescriptor open, long pid, int places, List<Registered> files) {}

    private record Seen(String link, long object) {}

    private final List<Ring> rings = new ArrayList<>();
    private final Map<Long, Map<Integer, Seen>> descriptors = new HashMap<>();
    private final Map<String, Long> sockets = new HashMap<>();

    /** What the kernel says of a ring's files. */
    void read(OpenDescriptor open, RingNotes.Note note, long id) {
        int places = (int) open.number("UserFiles:", 10);
        if (places == 0) {
            return;
        }
        if (places > RingRegistration.MOST_FILES) {
            throw open.refuse("an io_uring with places for " + places + " registered files cannot be checkpointed");
        }
        int[] known = note.fileCount() == places ? note.fileDescriptors() : new int[0];
        List<Registered> files = new ArrayList<>();
        for (String line : open.info().substring(open.info().indexOf("UserFiles:")).lines().skip(1).toList()) {
            Matcher file = FILE.matcher(line);
            if (!file.matches()) {
                break;
            }
            int place = Integer.parseInt(file.group(1));
            if (!file.group(2).equals("<none>")) {
                files.add(new Registered(place, file.group(2), place < known.length ? known[place] : -1));
            }
        }
        rings.add(new Ring(id, open, note.process().namespacePid(), places, files));
    }

    /** A descriptor of the job. */
    void seen(OpenDescriptor open, long object) {
        if (!open.process().inFlight()) { // else its number is not one of the process
            descriptors.computeIfAbsent((long) open.process().namespacePid(), _ -> new HashMap<>()).put(open.fd(),
                    new Seen(open.link(), object));
        }
        if (open.link().startsWith(SOCKET)) {
            sockets.put(open.link(), object);
        }
    }

    /** As in {@link RingRegistration}, when all descriptors were seen. */
    byte[] objects(long id) {
        for (Ring ring : rings) {
            if (ring.id == id) {
                ByteBuffer objects = ByteBuffer.allocate(ring.places * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
                ring.files.forEach(file -> objects.putLong(file.place * Long.BYTES, object(ring, file)));
                return objects.array();
            }
        }
        return new byte[0];
    }

    private long object(Ring ring, Registered file) {
        if (file.path.startsWith("anon_inode:")) {
            throw ring.open.refuse("an io_uring with " + file.path + " among its registered files (place " + file.place
                    + ") cannot be checkpointed: nothing tells which one it is; use it by its descriptor");
        }
        Seen seen = descriptors.getOrDefault(ring.pid, Map.of()).get(file.fd);
        if (seen != null && written(seen.link).equals(file.path)) {
            return seen.object;
        }
        Long socket = sockets.get(file.path);
        if (socket != null) {
            return socket;
        }
        throw ring.open.refuse("place %d of an io_uring's registered files has %s, %s; keep the descriptor open"
                .formatted(file.place, file.path, file.fd < 0
                        ? "and which descriptor it was registered from is not known"
                        : "and descriptor " + file.fd + ", which it was registered from, is closed or another file"));
    }

    /** A path as seq_file_path() writes it into fdinfo. */
    private static String written(String path) {
        StringBuilder written = new StringBuilder();
        for (char c : path.toCharArray()) {
            written.append(" \t\n\\".indexOf(c) < 0 ? String.valueOf(c) : "\\%03o".formatted((int) c));
        }
        return written.toString();
    }

    /** The ids in a ring's files. */
    static long[] ids(byte[] files) {
        LongBuffer ids = ByteBuffer.wrap(files, 0, files.length & -Long.BYTES).order(ByteOrder.LITTLE_ENDIAN)
                .asLongBuffer();
        long[] found = new long[ids.remaining()];
        ids.get(found);
        return found;
    }
}
