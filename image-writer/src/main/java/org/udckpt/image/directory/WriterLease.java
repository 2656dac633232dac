package org.udckpt.image.directory;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.udckpt.image.ImageNames;
import org.udckpt.image.manifest.ManifestText;
import org.udckpt.image.storage.StorageIo;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;

/**
 * The writer of a checkpoint: the content of the file {@code writer} in its directory. It tells a checkpoint that is
 * being written from one whose writer died. A process is named by its pid and start time, which no later process
 * shares, within the boot and the pid namespace that give them a meaning.
 *
 * @param startTime field 22 of /proc/PID/stat, in clock ticks after boot
 */
public record WriterLease(String host, String boot, String pidNamespace, long pid, long startTime) {
    private static final int MAX_BYTES = 4096;
    private static final Pattern FORM = Pattern.compile("writer (\\S+) (\\S+) (\\S+) (\\d{1,18}) (\\d{1,18})\n");

    /** Whether a writer is alive. */
    public enum Liveness {
        ALIVE, DEAD, UNKNOWN
    }

    public static WriterLease own() throws IOException {
        long pid = ProcessHandle.current().pid();
        return new WriterLease(hostname(), thisBoot(), thisPidNamespace(), pid, startTime(pid));
    }

    public byte[] encode() {
        return ("writer " + ManifestText.encode(host) + " " + boot + " " + pidNamespace + " " + pid + " " + startTime
                + "\n")
                .getBytes(StandardCharsets.US_ASCII);
    }

    /**
     * Whether the writer of a checkpoint directory is alive. No lease, or half of one: it died in its first moments.
     */
    public static Liveness livenessOf(Path directory, StorageIo io) throws IOException {
        WriterLease lease;
        try (StorageIo.Input input = io.open(directory.resolve(ImageNames.WRITER))) {
            ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(MAX_BYTES, input.length()));
            input.read(bytes, 0);
            var matcher = FORM.matcher(new String(bytes.array(), StandardCharsets.US_ASCII));
            if (!matcher.matches()) {
                return Liveness.DEAD;
            }
            lease = new WriterLease(ManifestText.decode(matcher.group(1)), matcher.group(2), matcher.group(3),
                    Long.parseLong(matcher.group(4)), Long.parseLong(matcher.group(5)));
        } catch (NoSuchFileException e) {
            return Liveness.DEAD;
        } catch (IllegalArgumentException e) {
            return Liveness.DEAD;
        }
        return lease.liveness();
    }

    /** Another machine's processes cannot be seen from here, nor another pid namespace's. */
    private Liveness liveness() throws IOException {
        if (!boot.equals(thisBoot())) {
            return host.equals(hostname()) ? Liveness.DEAD : Liveness.UNKNOWN;
        }
        if (!pidNamespace.equals(thisPidNamespace())) {
            return Liveness.UNKNOWN;
        }
        try {
            return startTime(pid) == startTime ? Liveness.ALIVE : Liveness.DEAD;
        } catch (LinuxError e) {
            if (e.errno() != LinuxError.ENOENT && e.errno() != LinuxError.ESRCH) {
                throw e;
            }
            return Liveness.DEAD;
        }
    }

    private static String hostname() {
        return Proc.text("/proc/sys/kernel/hostname").strip();
    }

    private static String thisBoot() {
        return Proc.text("/proc/sys/kernel/random/boot_id").strip();
    }

    private static String thisPidNamespace() throws IOException {
        return Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString();
    }

    private static long startTime(long pid) {
        String stat = Proc.whole("/proc/" + pid + "/stat");
        // The name in parentheses may hold anything; the fields after it are plain (proc_pid_stat(5)).
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return Long.parseLong(fields[22 - 3]);
    }
}
