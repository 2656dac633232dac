package org.udckpt.hosts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * That the trouble between a {@link HostLab}'s hosts is what was asked for, measured by echo requests; the bounds leave
 * room for chance and a busy machine.
 */
@Timeout(180)
class HostTroubleTest {
    private static final int MANY = 1000, BYTES = 1000;
    private static final long MILLISECOND = 1000;

    @TempDir
    private Path directory;

    private HostLab lab;

    /**
     * What {@code echo_meter} prints.
     *
     * @param answers   that came, doubles too
     * @param different of them
     * @param overtaken answers that came after that of a later request
     * @param fastest, median of the times until an answer came, in us
     */
    private record Seen(int answers, int different, int overtaken, long fastest, long median) {
        static Seen parse(String line) {
            String[] words = line.strip().split(" ");
            return new Seen(Integer.parseInt(words[0]), Integer.parseInt(words[1]), Integer.parseInt(words[2]),
                    Long.parseLong(words[3]), Long.parseLong(words[4]));
        }
    }

    @BeforeEach
    void start() throws Exception {
        assumeTrue(HostLab.missing().isEmpty(), () -> HostLab.missing().orElse(""));
        lab = new HostLab(4, directory);
    }

    @AfterEach
    void end() {
        if (lab != null) {
            lab.close();
        }
    }

    /** From one host to another and back, one datagram each millisecond. */
    private Seen ask(int from, int to, int count) throws IOException, InterruptedException {
        return ask(from, to, count, MILLISECOND);
    }

    private Seen ask(int from, int to, int count, long pause) throws IOException, InterruptedException {
        String meter = Path.of(System.getProperty("udckpt.native"), "programs", "echo_meter").toString();
        return Seen.parse(run(lab.host(from).command(meter, lab.host(to).address(), Integer.toString(count),
                Long.toString(pause), Integer.toString(BYTES))));
    }

    private static String run(ProcessBuilder command) throws IOException, InterruptedException {
        Process process = command.redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), said);
        return said;
    }

    private void assertWell(int from, int to) throws Exception {
        Seen seen = ask(from, to, 100);
        assertTrue(seen.answers() == 100 && seen.different() == 100 && seen.overtaken() == 0, seen::toString);
    }

    /** Of one in trouble, each way that its frames come late: netem lets them overtake each other then. */
    private void assertComplete(int from, int to) throws Exception {
        Seen seen = ask(from, to, 100);
        assertTrue(seen.answers() == 100 && seen.different() == 100, seen::toString);
    }

    private static void assertBetween(double least, double value, double most, Seen seen) {
        assertTrue(least <= value && value <= most,
                () -> value + " is not between " + least + " and " + most + ": " + seen);
    }

    /** All of it is of one cable, and gone when it is mended; others' have none. */
    @Tag("slow")
    @Test
    void framesAreLateBothWays() throws Exception {
        assertWell(1, 2);
        lab.trouble(lab.host(2), Trouble.late(Duration.ofMillis(40), Duration.ofMillis(10)));
        Seen seen = ask(1, 2, 300);
        assertEquals(300, seen.different(), seen::toString);
        assertBetween(60_000, seen.fastest(), 100_000, seen);
        assertTrue(seen.median() > 70_000, seen::toString);
        Seen others = ask(1, 3, 300);
        assertTrue(others.median() < 40_000, others::toString);
        lab.calm();
        assertWell(1, 2);
        Seen mended = ask(1, 2, 300);
        assertTrue(mended.median() < 40_000, mended::toString);
    }

    /** 10 % are lost each way, so 81 % come back, plus or minus 1.2 % (one standard deviation). */
    @Test
    void framesAreLost() throws Exception {
        lab.trouble(lab.host(2), new Trouble(Duration.ZERO, Duration.ZERO, 10, 0, 0, 0));
        Seen seen = ask(1, 2, MANY);
        assertBetween(0.75 * MANY, seen.different(), 0.87 * MANY, seen);
        assertEquals(seen.different(), seen.answers());
    }

    /**
     * With 20 % of the frames twice each way, an answer comes 1.44 times. Of those that are not late, 20 % each way,
     * few wait for the others.
     */
    @Test
    void framesComeTwiceAndOutOfOrder() throws Exception {
        lab.trouble(lab.host(2), new Trouble(Duration.ofMillis(20), Duration.ZERO, 0, 20, 0, 0));
        Seen twice = ask(1, 2, MANY);
        assertEquals(MANY, twice.different(), twice::toString);
        assertBetween(1.34 * MANY, twice.answers(), 1.54 * MANY, twice);
        lab.trouble(lab.host(2), new Trouble(Duration.ofMillis(20), Duration.ZERO, 0, 0, 20, 0));
        Seen mixed = ask(1, 2, MANY);
        assertEquals(MANY, mixed.different(), mixed::toString);
        assertTrue(mixed.overtaken() > 0.3 * MANY, mixed::toString);
    }

    /**
     * A thousand at once: those of 0.3 s pass a line of 2 Mbit/s, about 72 by the wire and 50 by netem, which counts
     * full frames; and what finds room while the rest comes.
     */
    @Test
    void thereIsNoMoreRoomThanTheRate() throws Exception {
        lab.trouble(lab.host(2), new Trouble(Duration.ZERO, Duration.ZERO, 0, 0, 0, 2_000_000));
        Seen seen = ask(1, 2, MANY, 0);
        assertBetween(50, seen.different(), 400, seen);
        assertTrue(seen.median() > 80_000, seen::toString); // they wait for those before them
    }

    /** Segments larger than a frame, whose checksums are left to the device, arrive as they were sent. */
    @Test
    void streamsArriveAsTheyWereSent() throws Exception {
        byte[] bytes = new byte[8 << 20];
        new java.util.Random(4711).nextBytes(bytes);
        Files.write(lab.host(1).directory().resolve("sent"), bytes);
        lab.trouble(lab.host(2), new Trouble(Duration.ofMillis(5), Duration.ofMillis(2), 0.5, 0.5, 1, 0));
        String serve =
                "use IO::Socket::INET; my $s = IO::Socket::INET->new(LocalPort => 7008, Listen => 1) or die $!; "
                        + "open(my $l, '>', 'listening'); my $c = $s->accept;"
                        + "open(my $f, '>:raw', 'got'); print $f $_ while sysread($c, $_, 65536)";
        String send = "use IO::Socket::INET; my $c = IO::Socket::INET->new(PeerAddr => '" + lab.host(2).address()
                + ":7008') or die $!; open(my $f, '<:raw', 'sent'); local $/; print {$c} <$f>";
        Process server =
                lab.host(2).command("perl", "-e", serve).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        while (!Files.exists(lab.host(2).directory().resolve("listening"))) {
            assertTrue(server.isAlive());
            Thread.sleep(20);
        }
        assertEquals(0, lab.host(1).command("perl", "-e", send).redirectError(ProcessBuilder.Redirect.INHERIT).start()
                .waitFor());
        assertEquals(0, server.waitFor());
        assertEquals(-1,
                Files.mismatch(lab.host(1).directory().resolve("sent"), lab.host(2).directory().resolve("got")));
        lab.calm();
    }

    /** How many requests a host has heard (proc(5), /proc/net/snmp: Icmp, InEchos). */
    private long heard(int host) throws Exception {
        List<String> lines = run(lab.host(host).command("grep", "^Icmp:", "/proc/net/snmp")).lines().toList();
        return Long.parseLong(lines.get(1).split(" ")[List.of(lines.get(0).split(" ")).indexOf("InEchos")]);
    }

    private void assertParted(int one, int two) throws Exception {
        List<Long> before = List.of(heard(one), heard(two));
        assertEquals(0, ask(one, two, 20).answers());
        assertEquals(0, ask(two, one, 20).answers());
        assertEquals(before, List.of(heard(one), heard(two)), "something came");
    }

    @Tag("slow")
    @Test
    void partitionsPartBothWaysAndHeal() throws Exception {
        // what is wrong with a cable stays with it
        lab.trouble(lab.host(2), Trouble.late(Duration.ofMillis(5), Duration.ofMillis(1)));
        lab.partition(Set.of(2, 3));
        assertComplete(2, 3);
        assertWell(1, 4);
        assertParted(1, 2);
        assertParted(3, 4);
        lab.heal();
        assertComplete(1, 2);
        assertTrue(ask(1, 2, 50).fastest() > 8_000);

        lab.isolate(Set.of(2, 3));
        assertParted(2, 3);
        assertComplete(1, 2);
        assertWell(3, 4);
        lab.heal();
        assertComplete(2, 3);
        lab.calm();
    }

    @Test
    void whatCannotBeIsRefused() {
        Duration ten = Duration.ofMillis(10);
        assertThrows(IllegalArgumentException.class, () -> Trouble.late(ten, ten.plusMillis(1)));
        assertThrows(IllegalArgumentException.class, () -> new Trouble(Duration.ZERO, Duration.ZERO, 0, 0, 1, 0));
        assertEquals(
                List.of("netem", "limit", "100000", "delay", "10000us", "5000us", "loss", "1.500%", "duplicate",
                        "0.000%", "reorder", "2.000%"),
                new Trouble(ten, ten.dividedBy(2), 1.5, 0, 2, 0).netem());
        assertTrue(new Trouble(ten, Duration.ZERO, 0, 0, 0, 10_000_000).netem()
                .containsAll(List.of("limit", "256", "rate", "10000000bit")));
    }
}
