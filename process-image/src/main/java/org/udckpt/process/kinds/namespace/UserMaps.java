package org.udckpt.process.kinds.namespace;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.User;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.model.KernelObject;
import org.udckpt.process.model.UserNamespace;

/** Gives new user namespaces the numbers that they have for users and groups (user_namespaces(7)). */
public final class UserMaps {
    private final Map<Long, UserNamespace> users = new HashMap<>();

    /** Of an image. */
    public UserMaps(Collection<? extends KernelObject> objects) {
        for (KernelObject object : objects) {
            if (object instanceof UserNamespace user) {
                users.put(user.id(), user);
            }
        }
    }

    /** Whether this process writes: who may is in the namespace above, and that is this process's. */
    static boolean here(UserNamespace user) {
        return User.id() == 0 && user.parentNamespace() == 0;
    }

    /** Of a namespace in which {@code first} is. @param writer another process, in the namespace above, or the same */
    public void write(UserNamespace user, Maker first, Maker writer) {
        long proc = writer.call("open /proc", Syscall.OPEN, writer.string("/proc"),
                Syscall.O_PATH | Syscall.O_DIRECTORY | Syscall.O_CLOEXEC, 0);
        write(user, first, writer, proc);
        writer.call("close", Syscall.CLOSE, proc);
    }

    /** The same. @param proc a descriptor of the writer's, of a /proc that has the job's numbers */
    void write(UserNamespace user, Maker first, Maker writer, long proc) {
        UserNamespace above = users.get(user.parentNamespace());
        String directory = writer == first ? "self" : Integer.toString(first.pid());
        if (user.groupsDenied()) {
            write(user, first, writer, proc, directory + "/setgroups", "deny");
        }
        write(user, first, writer, proc, directory + "/gid_map",
                lines(user.groupMap(), above == null ? null : above.groupMap()));
        write(user, first, writer, proc, directory + "/uid_map",
                lines(user.userMap(), above == null ? null : above.userMap()));
    }

    private static void write(UserNamespace user, Maker first, Maker writer, long proc, String file, String text) {
        if (here(user)) {
            writeHere(first, file.substring(file.indexOf('/') + 1), text);
        } else {
            writeBy(writer, proc, file, text);
        }
    }

    /** Writes a file of the maker's in /proc, by this process. */
    static void writeHere(Maker maker, String file, String text) {
        try {
            if (!text.isEmpty()) {
                Files.write(Path.of("/proc/" + maker.hostPid() + "/" + file), text.getBytes(StandardCharsets.US_ASCII),
                        StandardOpenOption.WRITE);
            }
        } catch (IOException e) {
            throw maker.failed("write /proc/self/" + file + " (" + text.strip() + "): " + e.getMessage());
        }
    }

    /** Lets a process write a file in /proc. @param text nothing is written if it is empty */
    static void writeBy(Maker writer, long proc, String file, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        if (bytes.length == 0) {
            return;
        }
        long fd = writer.call("open /proc/" + file, Syscall.OPENAT, proc, writer.string(file),
                Syscall.O_WRONLY | Syscall.O_CLOEXEC, 0);
        writer.call("write /proc/" + file + " (" + text.strip() + ")", Syscall.WRITE, fd, writer.bytes(bytes),
                bytes.length);
        writer.call("close", Syscall.CLOSE, fd);
    }

    /** For uid_map or gid_map, whose numbers outside are those of the namespace above. */
    private static String lines(int[] ranges, int[] above) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < ranges.length; i += 3) {
            text.append(id(ranges[i])).append(' ')
                    .append(above == null ? id(ranges[i + 1]) : NumberMap.inside(above, ranges[i + 1])).append(' ')
                    .append(id(ranges[i + 2])).append('\n');
        }
        return text.toString();
    }

    private static long id(int id) {
        return Integer.toUnsignedLong(id);
    }
}
