package org.udckpt.system.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.cli.Udckpt;

/** Whatever is wrong is said in one line, with its exit code, before anything is started. */
@Timeout(180)
class BadInputTest {
    @TempDir
    Path directory;
    private Path elf;

    @BeforeEach
    void copyOfAProgram() throws Exception {
        elf = Files.copy(Path.of("/bin/true").toRealPath(), directory.resolve("true"));
        Files.setPosixFilePermissions(elf, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private static String expect(int code, String... arguments) {
        PrintStream before = System.err;
        ByteArrayOutputStream errors = new ByteArrayOutputStream();
        System.setErr(new PrintStream(errors, true));
        try {
            int found = Udckpt.run(arguments);
            assertEquals(code, found, String.join(" ", arguments) + ": " + errors);
        } finally {
            System.setErr(before);
        }
        String text = errors.toString();
        assertTrue(text.startsWith("udckpt: "), text);
        assertEquals(1, text.lines().count(), text);
        assertFalse(text.contains("Exception"), text);
        return text;
    }

    private Path patched(int offset, int... bytes) throws Exception {
        byte[] content = Files.readAllBytes(elf);
        for (int i = 0; i < bytes.length; i++) {
            content[offset + i] = (byte) bytes[i];
        }
        return Files.write(elf, content);
    }

    @Test
    void usage() {
        expect(64);
        expect(64, "fly");
        expect(64, "run");
        expect(64, "run", "-n", "many", "--", "true");
        expect(64, "run", "-n", "0", "--", "true");
        expect(64, "run", "--hosts", "a:2", "-n", "3", "--", "true");
        expect(64, "run", "--interval", "soon", "--", "true");
        expect(64, "run", "--keep", "-2", "--", "true");
        expect(64, "run", "--name", "../x", "--", "true");
        expect(64, "checkpoint");
        expect(64, "checkpoint", "job", "--then", "sing");
        expect(64, "checkpoint", "job", "--then", "kill", "--no-wait");
        expect(64, "restart");
    }

    @Test
    void helpfulWords() {
        assertTrue(expect(64, "statsu").contains("'statsu' is not a command"));
        assertTrue(expect(64, "run", "-n", "many", "--", "true").contains("'-n': 'many' is not a whole number"));
        assertTrue(expect(64, "config", "show", "--bogus").contains("'udckpt config show --help'"));
        assertTrue(expect(64, "run", "-n", "1025", "--", "true").contains("1 to 1024"));
        expect(64, "run", "--dir", "", "--", "true");
        expect(64, "list", "");
        expect(64, "export-core", directory.toString());
        expect(64, "diff", directory.toString());
        for (String none : List.of("0", "-3")) {
            assertTrue(expect(64, "run", "--full-every", none, "--", "true")
                    .contains("'" + none + "' is not valid for full-interval; give one or more"));
        }
        assertTrue(expect(64, "inspect", "--encrypt", "rot13", directory.toString()).contains("file:PATH"));
    }

    @Test
    void keepTogetherTakesAnAnswerOrNothing() throws Exception {
        String images = Files.createDirectory(directory.resolve("images")).toString();
        assertTrue(expect(64, "restart", "--starter", "local", "--keep-together=maybe", images)
                .contains("--keep-together takes yes or no, not 'maybe'"));
        expect(66, "restart", "--starter", "local", "--keep-together=yes", images); // no checkpoint is there
        expect(66, "restart", "--starter", "local", "--keep-together", images);
    }

    /** Agents on this machine have its devices. */
    @Test
    void devicesOfLocalAgentsAreLookedForHere() {
        assertTrue(expect(69, "run", "--starter", "local", "--hosts", "a:1,b:1", "--device", "no_such0", "--", "true")
                .contains("no verbs device named 'no_such0' on this machine"));
        assertTrue(expect(69, "restart", "--plan", "--starter", "local", "--device", "no_such0", directory.toString())
                .contains("no verbs device named 'no_such0'"));
    }

    @Test
    void imagesWithoutAPlace() throws Exception {
        Path file = Files.createFile(directory.resolve("file"));
        assertTrue(
                expect(74, "run", "--dir", file.resolve("x").toString(), "--", "true").contains("is not a directory"));
        expect(77, "run", "--dir", "/proc/images", "--", "true");
    }

    @Test
    void programs() throws Exception {
        expect(66, "run", "--", "no-such-program-anywhere");
        expect(66, "run", "--", directory.resolve("absent").toString());
        expect(66, "run", "--", directory.toString());
        Path text = Files.writeString(directory.resolve("text"), "hello\n");
        assertTrue(expect(77, "run", "--", text.toString()).contains("chmod +x"));
        Files.setPosixFilePermissions(text, PosixFilePermissions.fromString("rwxr-xr-x"));
        assertTrue(expect(69, "run", "--", text.toString()).contains("neither an ELF program nor a script"));
        Path script = Files.writeString(directory.resolve("script"), "#!/no/such/interpreter\n");
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
        assertTrue(expect(66, "run", "--", script.toString()).contains("/no/such/interpreter"));
    }

    @Test
    void programsThatCannotBePreloaded() throws Exception {
        Path shepherd = Udckpts.nativeFile("udckpt-shepherd");
        assertTrue(expect(69, "run", "-n", "1", "--", shepherd.toString()).contains("statically linked"));
        assertTrue(expect(69, "run", "--", patched(18, 183, 0).toString()).contains("another architecture"));
        assertTrue(expect(69, "run", "--", patched(4, 1).toString()).contains("another architecture"));
    }

    @Test
    void setgidPrograms() throws Exception {
        new ProcessBuilder("chmod", "2755", elf.toString()).start().waitFor();
        assertTrue(expect(69, "run", "--", elf.toString()).contains("setuid or setgid"));
    }

    /** Root's own setuid program keeps its preloads; another user's does not. */
    @Test
    void setuidPrograms() throws Exception {
        assumeTrue(start("chown", "nobody", elf.toString()) == 0, "only root can give a file away");
        assertEquals(0, start("chmod", "4755", elf.toString()));
        String text = expect(69, "run", "--", elf.toString());
        assertTrue(text.contains("setuid or setgid") && text.contains("without that bit"), text);
    }

    /** Linked to Open MPI's library by its soname; the library itself need not be there. */
    @Test
    void programsOfOpenMpi() throws Exception {
        Path library = directory.resolve("libmpi.so.40");
        Path program = directory.resolve("openmpi");
        Path source = Files.writeString(directory.resolve("main.c"), "int main(void) { return 0; }\n");
        assertEquals(0,
                start("gcc", "-shared", "-Wl,-soname,libmpi.so.40", "-o", library.toString(), source.toString()));
        assertEquals(0,
                start("gcc", "-o", program.toString(), source.toString(), "-Wl,--no-as-needed", library.toString()));
        Files.delete(library);
        String text = expect(69, "run", "-n", "2", "--", program.toString());
        assertTrue(text.contains("Open MPI") && text.contains("PMI-1") && text.contains("mpicc.mpich"), text);
    }

    private static int start(String... command) throws Exception {
        return new ProcessBuilder(command).inheritIO().start().waitFor();
    }

    @Test
    void aDamagedProgram() throws Exception {
        byte[] content = Files.readAllBytes(elf);
        Files.write(elf, java.util.Arrays.copyOf(content, 80));
        expect(74, "run", "--", elf.toString());
    }

    @Test
    void devices() {
        assertTrue(expect(69, "run", "--device", "mlx5_99", "--", "true").contains("mlx5_99"));
        assertTrue(expect(69, "restart", "--device", "mlx5_99", directory.toString()).contains("--device soft"));
    }

    @Test
    void jobsAndImages() {
        expect(66, "checkpoint", "no-such-job");
        expect(66, "status", "no-such-job");
        expect(66, "restart", directory.resolve("nothing").toString());
        expect(66, "restart", directory.toString());
        expect(66, "list", directory.resolve("nothing").toString());
        expect(66, "inspect", directory.toString());
        expect(66, "export-core", "--rank", "0", directory.toString());
        expect(66, "diff", directory.toString(), directory.toString());
        expect(66, "verify", "--all", directory.toString());
        expect(66, "verify", directory.resolve("ckpt-0001").toString());
    }
}
