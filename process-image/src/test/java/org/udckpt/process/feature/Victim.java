package org.udckpt.process.feature;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.udckpt.attack.OrdinaryUser;

/**
 * {@link VictimMain} as root or as an ordinary user, and the directories around it. Closing ends it and removes them.
 */
final class Victim implements AutoCloseable {
    private final Path directory;
    /** The job's scratch directory. */
    final Path work;
    /** A file that no attacker may write to. */
    final Path precious;
    private final Process process;
    private final BufferedReader answers;
    final int pid;

    /**
     * @param owner null: root
     * @param open  others may write to the job's directory
     */
    Victim(String program, OrdinaryUser owner, boolean open) throws IOException {
        directory = Files.createTempDirectory("udckpt-v",
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
        Installation installation = Installation.built().copyTo(directory.resolve("native"));
        String classPath = KernelFeatureTest.classPath(directory);
        work = Files.createDirectory(directory.resolve("work"));
        Path own = Files.createDirectory(directory.resolve("own"));
        precious = Files.writeString(directory.resolve("precious"), "precious");
        Files.setPosixFilePermissions(precious, PosixFilePermissions.fromString("rw-------"));
        if (owner != null) {
            for (Path path : List.of(work, own, precious)) {
                owner.own(path);
            }
        }
        if (open) {
            Files.setPosixFilePermissions(work, PosixFilePermissions.fromString("rwxrwxrwx"));
        }
        List<String> command = List.of(System.getProperty("java.home") + "/bin/java", "-Xmx256m",
                "--enable-native-access=ALL-UNNAMED", "-Dudckpt.native=" + installation.root(),
                "-Duser.home=" + own, "-cp", classPath, VictimMain.class.getName(), program, work.toString(),
                own.toString());
        process = new ProcessBuilder(owner == null ? command : owner.command(command))
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        answers = new BufferedReader(new InputStreamReader(process.getInputStream()));
        pid = Integer.parseInt(answer().substring("captured ".length()));
    }

    private String answer() throws IOException {
        for (String line; (line = answers.readLine()) != null;) {
            if (line.startsWith("captured ") || line.equals("runs") || line.startsWith("refused ")) {
                return line;
            }
        }
        throw new IOException("the victim has ended");
    }

    /** {@code runs} or {@code refused MESSAGE}; the job has been ended again when this returns. */
    String restart() throws IOException {
        process.getOutputStream().write('\n');
        process.getOutputStream().flush();
        return answer();
    }

    boolean isSpoiled() throws IOException {
        return !Arrays.equals(Files.readAllBytes(precious), "precious".getBytes(StandardCharsets.US_ASCII));
    }

    @Override
    public void close() throws IOException, InterruptedException {
        process.getOutputStream().close();
        if (!process.waitFor(20, TimeUnit.SECONDS)) {
            process.destroyForcibly().waitFor();
        }
        FeatureSuite.deleteTree(directory);
    }
}
