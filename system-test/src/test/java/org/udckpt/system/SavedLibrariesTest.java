package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.attack.OrdinaryUser;

/**
 * A job whose program and library are gone, or others, where it is restarted, as on another system: a feature program
 * (process-image/src/test/c/fork_mappings.c), copied, with a copy of a library of the system loaded before it.
 */
@Timeout(300)
class SavedLibrariesTest {
    private static ProcessTreeJob job(String... wrapper) throws Exception {
        ProcessTreeJob tree =
                new ProcessTreeJob(List.of(wrapper), List.of("env", "LD_PRELOAD=@/libown.so", "@/own"), "@");
        Files.copy(CommandLine.artifact("features/fork_mappings"), tree.file("own"));
        Files.copy(libm(), tree.file("libown.so"));
        return tree;
    }

    /** The system's, wherever it is. */
    private static Path libm() throws IOException {
        for (String directory : List.of("/lib/x86_64-linux-gnu", "/usr/lib64", "/lib64", "/usr/lib")) {
            Path file = Path.of(directory, "libm.so.6");
            if (Files.exists(file)) {
                return file.toRealPath();
            }
        }
        throw new AssertionError("this system has no libm.so.6 where it is looked for");
    }

    private static void otherSystem(ProcessTreeJob tree) throws IOException {
        Files.delete(tree.file("own"));
        Path other = tree.file("other");
        Files.writeString(other, "the library of another system", StandardCharsets.UTF_8);
        Files.move(other, tree.file("libown.so"), java.nio.file.StandardCopyOption.REPLACE_EXISTING);
    }

    private static long size(ProcessTreeJob tree, int id) throws IOException {
        try (Stream<Path> files = Files.walk(tree.file("images").resolve("ckpt-%04d".formatted(id)))) {
            return files.filter(Files::isRegularFile).mapToLong(file -> file.toFile().length()).sum();
        }
    }

    private static void end(ProcessTreeJob tree) throws Exception {
        tree.finish();
        assertEquals("PASS\n", Files.readString(tree.file("result")));
        tree.good();
    }

    @Test
    void areUsedWhereTheyAreOthers() throws Exception {
        try (ProcessTreeJob tree = job()) {
            tree.start("--with-libraries", "--full-every", "4");
            tree.await("ready");
            assertEquals(0, tree.checkpoint(), tree::text);
            tree.checkpointAndKill();
            inspected(tree);
            otherSystem(tree);
            assertEquals(0, tree.plan(), tree::refusal);
            assertTrue(tree.refusal().contains("is used for 2 files that the job maps"),
                    tree.refusal());
            tree.restart();
            tree.await("");
            tree.checkpointAndKill(); // and this has them without being asked to
            tree.restart();
            tree.await("");
            end(tree);
        }
    }

    private static void inspected(ProcessTreeJob tree) throws Exception {
        JsonNode files = tree.json("inspect", tree.file("images").toString(), "--json").at("/mapped_files");
        long saved = StreamSupport.stream(files.spliterator(), false)
                .filter(file -> file.at("/in_image").asBoolean()).count();
        assertTrue(saved >= 4, files.toString()); // with the C library and the dynamic linker
        assertTrue(tree.output("inspect", tree.file("images").toString()).contains("also in the image"));
        assertTrue(size(tree, 1) > Files.size(tree.file("libown.so")), "where are they?");
        assertTrue(size(tree, 2) < size(tree, 1), "an incremental checkpoint has " + size(tree, 2)
                + " bytes, the one before " + size(tree, 1));
    }

    /** On the system that has them, those that are there are mapped. */
    @Test
    void areNotUsedWhereTheyAreTheSame() throws Exception {
        try (ProcessTreeJob tree = job()) {
            tree.start("--with-libraries");
            tree.await("ready");
            tree.checkpointAndKill();
            tree.restart();
            tree.await("");
            assertTrue(!tree.text().contains("out of the image"), tree.text());
            tree.checkpointAndKill();
            assertTrue(tree.output("inspect", tree.file("images").toString(), "--files").contains(
                    tree.file("libown.so") + ";"));
            tree.restart();
            tree.await("");
            end(tree);
        }
    }

    /** There other files are opened by their names, so that they are on its own mounts. */
    @Test
    void inAMountNamespaceOfTheJobsOwn() throws Exception {
        OrdinaryUser.requireRoot();
        try (ProcessTreeJob tree = job("unshare", "-m", "--propagation", "private")) {
            tree.start("--with-libraries");
            tree.await("ready");
            tree.checkpointAndKill();
            otherSystem(tree);
            tree.restart();
            tree.await("");
            end(tree);
        }
    }

    /** Nothing of them is in the image without the option, which the refusal names. */
    @Test
    void areMissedWithoutTheOption() throws Exception {
        try (ProcessTreeJob tree = job()) {
            tree.start();
            tree.await("ready");
            tree.checkpointAndKill();
            otherSystem(tree);
            assertEquals(74, tree.refusedRestart(), tree::refusal);
            assertTrue(tree.refusal().contains("--with-libraries"), tree.refusal());
            tree.good();
        }
    }
}
