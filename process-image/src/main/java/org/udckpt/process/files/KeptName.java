package org.udckpt.process.files;

import java.util.regex.Pattern;
import org.udckpt.linux.RawText;

/**
 * What a file is called that a restart has put aside: {@code NAME.udckpt-rolled-back-ckpt-0003}, with a number where
 * that is taken.
 */
final class KeptName {
    private static final String MARK = ".udckpt-rolled-back-";
    private static final Pattern KEPT = Pattern.compile(".*\\.udckpt-(rolled-back|new)-[^/]*(/.*)?", Pattern.DOTALL);
    private static final int NAME_BYTES = 255;

    private KeptName() {}

    /** Whether a file, or a directory above it, has such a name; or one that is only used for a moment. */
    static boolean isOne(String path) {
        return KEPT.matcher(path).matches();
    }

    /** The {@code n}th (from 1) name to try; {@code checkpoint} is what the restart is from. */
    static String of(String name, String checkpoint, int n) {
        String end = MARK + checkpoint + (n == 1 ? "" : "." + n);
        String begin = name;
        while (RawText.encode(begin + end).length > NAME_BYTES) {
            begin = begin.substring(0, begin.length() - 1);
        }
        return begin + end;
    }

    /** For a file that gets its own name later, on file systems that have no nameless ones. */
    static String fresh(long number) {
        return ".udckpt-new-" + ProcessHandle.current().pid() + "-" + number;
    }
}
