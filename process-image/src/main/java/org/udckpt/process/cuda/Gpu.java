package org.udckpt.process.cuda;

import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.udckpt.process.model.BrokenTable;

/**
 * A GPU as the driver numbers it for the agent; also a row of an image's table {@code gpus}.
 *
 * @param ordinal from 0 on
 * @param uuid as nvidia-smi prints it: GPU-8-4-4-4-12 hexadecimal digits
 * @param name of its kind
 * @param memory all of it, in bytes
 */
public record Gpu(int ordinal, String uuid, String name, long memory) {
    /** Of a node of an image, in the order of the ordinals. */
    public static final String TABLE = "gpus";
    static final int UUID_BYTES = 16;
    private static final Pattern UUID =
            Pattern.compile("GPU-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");
    private static final int[] DASHES = {4, 6, 8, 10};

    /** Whether a UUID is written as nvidia-smi prints it. */
    public static boolean isUuid(String text) {
        return UUID.matcher(text).matches();
    }

    /** What no driver says is refused. */
    public static void check(List<Gpu> rows) throws BrokenTable {
        Set<String> seen = new HashSet<>();
        for (int i = 0; i < rows.size(); i++) {
            Gpu gpu = rows.get(i);
            String wrong = gpu.ordinal != i ? "ordinal " + gpu.ordinal
                    : !isUuid(gpu.uuid) ? "no UUID of a GPU"
                            : !seen.add(gpu.uuid) ? "duplicate UUID " + gpu.uuid
                                    : gpu.memory < 0 ? "a memory of " + gpu.memory + " bytes" : null;
            if (wrong != null) {
                throw new BrokenTable(TABLE, i, wrong);
            }
        }
    }

    static String uuid(byte[] bytes) {
        StringBuilder text = new StringBuilder("GPU-").append(HexFormat.of().formatHex(bytes));
        for (int i = DASHES.length - 1; i >= 0; i--) {
            text.insert("GPU-".length() + 2 * DASHES[i], '-');
        }
        return text.toString();
    }

    /** @throws IllegalArgumentException unless {@link #isUuid} */
    static byte[] bytes(String uuid) {
        if (!isUuid(uuid)) {
            throw new IllegalArgumentException("'" + uuid + "' is not the UUID of a GPU");
        }
        return HexFormat.of().parseHex(uuid.substring("GPU-".length()).replace("-", ""));
    }
}
