package org.udckpt.bench.workload;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Files of two runs, byte by byte. */
record FileComparison(List<String> names) {

    Judgement of(Path expected, Path got) throws IOException {
        for (String name : names) {
            long at = Files.mismatch(expected.resolve(name), got.resolve(name));
            if (at >= 0) {
                return Judgement.wrong(
                        "%s differs from the undisturbed run's at byte %d (%d bytes there, %d here)".formatted(name, at,
                                Files.size(expected.resolve(name)), Files.size(got.resolve(name))));
            }
        }
        return Judgement.right(String.join(", ", names) + " bit for bit");
    }
}
