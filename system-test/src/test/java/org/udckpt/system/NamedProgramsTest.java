package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * Large programs of other people and of their kinds, as trees: {@code ./udckpt test programs}, which installs them.
 * They are not part of all tests, for they are hundreds of megabytes.
 */
@Timeout(600)
@EnabledIfSystemProperty(named = "udckpt.programs", matches = "true", disabledReason = "./udckpt test programs runs it")
class NamedProgramsTest {
    private static Path built;

    @BeforeAll
    static void build() throws Exception {
        built = Files.createTempDirectory("udckpt-p");
        run("g++", "-O2", "-pthread", "-o", built("particles"), source("particles.cc"));
        run("gcc", "-O2", "-o", built("triangles"), source("triangles.c"), "-lGL", "-lX11");
        run("as", "--32", "-o", built("guest.o"), source("guest.S"));
        run("ld", "-m", "elf_i386", "-Ttext", "0x7c00", "--oformat", "binary", "-o", built("guest"), built("guest.o"));
    }

    @AfterAll
    static void clean() throws Exception {
        run("rm", "-rf", built.toString());
    }

    private static void run(String... command) throws IOException, InterruptedException {
        assertEquals(0, new ProcessBuilder(command).inheritIO().start().waitFor(), String.join(" ", command));
    }

    private static String built(String name) {
        return built.resolve(name).toString();
    }

    private static String source(String name) {
        return Path.of(System.getProperty("udckpt.root"), "system-test/src/test/programs", name).toString();
    }

    private static void script(String name, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of("/bin/sh", source(name + ".sh")));
        command.addAll(List.of(arguments));
        ProcessTreeJob.comesBack(name, command);
    }

    /** Many threads, each with a state of its own, and exceptions, as a detector simulation has them. */
    @Test
    void particles() throws Exception {
        ProcessTreeJob.comesBack("particles", List.of(built("particles"), "@/finish"));
    }

    /** Xvfb, and an OpenGL client for which Mesa draws in software. */
    @Test
    void screen() throws Exception {
        script("screen", built("triangles"), "@/finish", "@/display");
    }

    /** QEMU without KVM, with a guest in the middle of a sum. */
    @Test
    void machine() throws Exception {
        script("machine", built("guest"), "@/finish");
    }

    @Test
    void redis() throws Exception {
        script("redis", source("clients.py"), "@/finish", "@/redis", freePort());
    }

    /** Its workers are another user's. */
    @Test
    void nginx() throws Exception {
        assumeTrue(System.getProperty("user.name").equals("root"), "only root can start workers of another user");
        script("nginx", source("clients.py"), "@/finish", "@/nginx", freePort());
    }

    private static String freePort() throws IOException {
        try (ServerSocket free = new ServerSocket(0)) {
            return Integer.toString(free.getLocalPort());
        }
    }
}
