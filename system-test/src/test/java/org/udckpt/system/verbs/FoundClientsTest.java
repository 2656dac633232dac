package org.udckpt.system.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.udckpt.system.cli.Udckpts;

/** Clients that find libibverbs by themselves (found_client.c) are killed after a checkpoint and end well elsewhere. */
@Timeout(300)
class FoundClientsTest {
    @TempDir
    Path directory;

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(strings = {"dlvsym", "plugin-deepbind"})
    void endsWellAfterRestart(String way) throws Exception {
        endsWell(way);
    }

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(strings = {"dlsym", "deepbind", "plugin", "default", "next", "dlmopen"})
    void otherWaysOfFindingThem(String way) throws Exception {
        endsWell(way);
    }

    private void endsWell(String way) throws Exception {
        Path images = directory.resolve("images"), finish = directory.resolve("finish");
        try (Udckpts udckpts = new Udckpts(directory)) {
            Udckpts.Running first = run(udckpts, images, way, finish);
            first.awaitOutput("iteration");
            assertEquals(0, udckpts.start("checkpoint", "found").await(60).code(), first::text); // and goes on
            Udckpts.Result checkpoint = udckpts.start("checkpoint", "found", "--then", "kill").await(60);
            assertEquals(0, checkpoint.code(), checkpoint::toString);
            assertEquals(0, first.await(60).code(), first::text);
            assertEquals("iteration\n", first.soFar().output());
            Udckpts.Running second = udckpts.start("restart", images.toString(), "--hosts", "b:1");
            second.await(() -> udckpts.start("status", "found").await(60).output().contains("b"));
            Files.createFile(finish);
            Udckpts.Result end = second.await(60);
            assertEquals(0, end.code(), end::toString);
            assertTrue(end.output().matches("PASS \\d+\n"), end::toString);
        }
    }

    private Udckpts.Running run(Udckpts udckpts, Path images, String way, Path finish) throws Exception {
        return udckpts.start("run", "-n", "1", "--hosts", "a:1", "--name", "found", "--dir", images.toString(), "--",
                Udckpts.nativeFile("tests/found_client").toString(), way, finish.toString());
    }
}
