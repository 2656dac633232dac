package org.udckpt.image;

import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.udckpt.image.write.CheckpointWriter;

/** A writer in a process of its own: writes checkpoints, or stops in the middle of one until it is killed. */
public final class WriterMain {
    private WriterMain() {}

    /**
     * Arguments: directory; {@code full}, or {@code chain} for checkpoints based on each other, pruned after each;
     * number of checkpoints to write, 0 to hang in the first one. The id of each is printed.
     */
    public static void main(String[] args) throws Exception {
        Path parent = Path.of(args[0]);
        int count = Integer.parseInt(args[2]);
        if (args[1].equals("chain")) {
            PruneAndPublishTest.chain(parent, ProcessHandle.current().pid(), count, System.out::println);
            return;
        }
        if (count == 0) {
            CheckpointWriter writer = CheckpointWriter.create(parent, Images.options());
            Images.fill(writer, Images.processes(new Random(1), 1));
            System.out.println(writer.id());
            Thread.sleep(60_000);
        }
        for (int i = 0; i < count; i++) {
            System.out.println(Images.write(parent, Images.options(), Images.processes(new Random(i), 1)).id());
        }
    }

    public static Process start(Path parent, int count) throws Exception {
        return start(parent, "full", count);
    }

    static Process start(Path parent, String kind, int count) throws Exception {
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        return new ProcessBuilder(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp", classPath,
                        "--enable-native-access=ALL-UNNAMED", "--add-opens=java.base/java.nio=ALL-UNNAMED",
                        "--sun-misc-unsafe-memory-access=allow", "-Xshare:auto", "-XX:TieredStopAtLevel=1",
                        WriterMain.class.getName(), parent.toString(), kind, String.valueOf(count)))
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }
}
