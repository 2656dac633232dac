package org.udckpt.process.capture;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;

/**
 * Which processes have come from one another by fork(2) alone. Each execve(2) gives a program 16 bytes by chance
 * (AT_RANDOM, getauxval(3)), which its children have until they execute another one. Processes of two families share no
 * private memory, wherever it lies.
 */
final class ForkFamily {
    private static final int AT_RANDOM = 25, BYTES = 16;

    private ForkFamily() {}

    /** The members of each family, in their order. */
    static Collection<List<Snapshot>> of(List<Snapshot> snapshots) {
        Map<String, List<Snapshot>> families = new LinkedHashMap<>();
        for (Snapshot snapshot : snapshots) {
            families.computeIfAbsent(name(snapshot), _ -> new ArrayList<>()).add(snapshot);
        }
        return families.values();
    }

    private static String name(Snapshot snapshot) {
        ByteBuffer auxv =
                ByteBuffer.wrap(Proc.bytes("/proc/" + snapshot.pid() + "/auxv")).order(ByteOrder.LITTLE_ENDIAN);
        while (auxv.remaining() >= 2 * Long.BYTES) {
            long type = auxv.getLong();
            long value = auxv.getLong();
            if (type == AT_RANDOM) {
                return random(snapshot, value);
            }
        }
        return "process " + snapshot.id();
    }

    /** A process that has unmapped its first stack is alone. */
    private static String random(Snapshot snapshot, long address) {
        try {
            return Long.toHexString(address) + " "
                    + HexFormat.of().formatHex(snapshot.memory().readBytes(address, BYTES));
        } catch (LinuxError e) {
            if (e.errno() != LinuxError.EIO && e.errno() != LinuxError.EFAULT) {
                throw e;
            }
            return "process " + snapshot.id();
        }
    }
}
