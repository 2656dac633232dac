package org.udckpt.process.capture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.attack.OrdinaryUser;

/** A process whose pagemap is hidden by what was mounted over it is refused, not taken for one without memory. */
@Timeout(120)
class PagemapTest {
    @Test
    void saysNothing() throws Exception {
        try (Target target = Target.feature("threads", Target.LIBRARY)) {
            Path empty = Files.createFile(target.directory.resolve("empty"));
            refusedWhileHidden(target, empty, "says nothing of the memory at 0x");
        }
    }

    @Test
    void cannotBeOpened() throws Exception {
        try (Target target = Target.feature("threads", Target.LIBRARY)) {
            Path socket = target.directory.resolve("socket");
            try (ServerSocketChannel bound = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
                bound.bind(UnixDomainSocketAddress.of(socket));
                refusedWhileHidden(target, socket, "cannot be opened (ENXIO");
            }
        }
    }

    private static void refusedWhileHidden(Target target, Path by, String says) throws Exception {
        OrdinaryUser.requireRoot();
        String pagemap = "/proc/" + target.pid + "/pagemap";
        assumeTrue(run("mount", "--bind", by.toString(), pagemap), "nothing can be mounted over " + pagemap);
        try {
            CaptureRefused refused = assertThrows(CaptureRefused.class, () -> Capture.take(target.request()).close());
            assertTrue(refused.getMessage().contains(pagemap + " " + says), refused.getMessage());
        } finally {
            assertTrue(run("umount", pagemap));
        }
        Capture.take(target.request()).close();
        assertEquals("PASS", target.verdict().split(" ")[0]);
    }

    private static boolean run(String... command) throws Exception {
        return new ProcessBuilder(command).inheritIO().start().waitFor() == 0;
    }
}
