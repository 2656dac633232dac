package org.udckpt.repository;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code ./udckpt release} (scripts/release.sh) asks of a clone, and what it changes in it before its checks. */
class ReleaseTest {
    private static final Path ROOT = Path.of(System.getProperty("udckpt.root"));
    private static final String PARTS = "set -euo pipefail; root=$1; shift; for part in say install release; do "
            + ". \"$root/scripts/$part.sh\"; done; \"$@\"";

    @TempDir
    Path directory;
    private Path clone;

    private record Result(int code, String output) {}

    private Result run(String... command) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        Process process = builder.start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Result(process.waitFor(), output);
    }

    private Result part(String... words) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("bash", "-c", PARTS, "release", clone.toString()));
        command.addAll(List.of(words));
        return run(command.toArray(String[]::new));
    }

    private String git(String... words) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(
                List.of("git", "-C", clone.toString(), "-c", "user.name=tester", "-c", "user.email=tester@localhost",
                        "-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null"));
        command.addAll(List.of(words));
        Result result = run(command.toArray(String[]::new));
        assertEquals(0, result.code(), result::toString);
        return result.output();
    }

    private void refused(int code, String words) throws IOException, InterruptedException {
        Result result = part("releasable", "9.8.7");
        assertEquals(code, result.code(), result::toString);
        assertTrue(result.output().contains(words), result::toString);
    }

    @BeforeEach
    void makeClone() throws Exception {
        assumeTrue(Files.exists(ROOT.resolve(".git")), "a tree without its history");
        clone = directory.resolve("clone");
        Result made = run("git", "clone", "-q", ROOT.toString(), clone.toString());
        assumeTrue(made.code() == 0, () -> "git does not clone this tree: " + made.output());
    }

    private void announce() throws Exception {
        Path changes = clone.resolve("CHANGELOG.md");
        Files.writeString(changes, Files.readString(changes).replaceFirst("(?m)^## ",
                "## 9.8.7 (not released yet)\n\n* A change.\n\n## "));
    }

    @Test
    void onlyACleanCloneWhoseChangesNameIt() throws Exception {
        refused(65, "begin it with '## 9.8.7 (not released yet)'");
        announce();
        refused(65, "the tree has changes: commit or remove them first:  M CHANGELOG.md");
        git("commit", "-q", "-a", "-m", "Changes");
        assertEquals(0, part("releasable", "9.8.7").code());
        assertEquals("\n* A change.\n\n", part("release_text", "9.8.7").output());
        git("tag", "v9.8.7");
        refused(65, "there is a release 9.8.7");
        for (String version : List.of("1", "1.0", "v1.0.0", "1.0.0-rc", "01.0.0")) {
            assertEquals(64, part("release", version).code(), version);
        }
    }

    @Test
    void theVersionStandsWhereTheOneBeforeStood() throws Exception {
        announce();
        git("commit", "-q", "-a", "-m", "Changes");
        String old = part("project_version").output().strip();
        Result named = part("name_version", "9.8.7");
        assertEquals(0, named.code(), named::toString);
        assertEquals("9.8.7", part("project_version").output().strip());
        assertTrue(git("diff", "CHANGELOG.md").matches("(?s).*\\+## 9\\.8\\.7 \\(\\d{4}-\\d\\d-\\d\\d\\)\n.*"));
        Result left = run("git", "-C", clone.toString(), "grep", "-nF", old, "--", "*pom.xml", "README.md",
                "docs/operator/install.md", "share");
        assertEquals(1, left.code(), left::toString); // none
        Path files = Files.createDirectory(directory.resolve("files"));
        Files.writeString(files.resolve("one"), "1\n");
        assertEquals(0, part("checksums", files.toString()).code());
        assertEquals("4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865  one\n",
                Files.readString(files.resolve("SHA256SUMS")));
    }
}
