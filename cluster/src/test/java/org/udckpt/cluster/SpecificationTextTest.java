package org.udckpt.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Test;
import org.udckpt.coordination.tree.Timing;
import org.udckpt.launch.LaunchMode;
import org.udckpt.linux.RawText;
import org.udckpt.process.restore.Relocation;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.transport.JobCredential;

class SpecificationTextTest {
    /** A byte 0xE9 alone, as RawText has it. */
    private static final String LATIN = "caf\uDCE9", OTHERS = "gr\u00FC\u00DFe \uD83D\uDE00 \"\\\n";

    private static final String BEGIN = "udckpt-agent " + SpecificationText.VERSION + " ";

    private final JobCredential credential = JobCredential.generate();

    private static NodeJob job() {
        return new NodeJob("job", 3, LaunchMode.PMIX,
                List.of(new Unit("a", "host1", 0, 2), new Unit("b", "host2.example", 2, 1)), 16, "/home/" + LATIN,
                List.of("./app", LATIN, OTHERS, ""),
                Map.of("PATH", "/bin", "ODD", LATIN + OTHERS),
                new NodeJob.Image("/images/" + LATIN, 7, "mac", Map.of("/shared/" + LATIN, Set.of(1, 3)),
                        new Relocation(List.of(new Relocation.Move("/old", "/new/" + LATIN)), "/new")));
    }

    private static NodeSpecification specification(Map<String, NodeSpecification.Setting> given) {
        return new NodeSpecification(job(), -5, new NodeSpecification.Address("10.1.2.3", 4567), Timing.USUAL,
                60_000_000_000L, given);
    }

    private byte[] bytes() {
        return new SpecificationText(
                specification(Map.of("max-rate", new NodeSpecification.Setting("500M", "--max-rate"))), credential)
                .encode();
    }

    private static Failure refused(byte[] bytes) {
        return assertThrows(Failure.class, () -> SpecificationText.read(new ByteArrayInputStream(bytes)));
    }

    @Test
    void whatIsWrittenIsReadAndNotAByteMore() throws Exception {
        byte[] bytes = bytes();
        byte[] all = Arrays.copyOf(bytes, bytes.length + 4);
        System.arraycopy("rest".getBytes(StandardCharsets.US_ASCII), 0, all, bytes.length, 4);
        ByteArrayInputStream in = new ByteArrayInputStream(all);
        SpecificationText read = SpecificationText.read(in);
        assertEquals(specification(Map.of("max-rate", new NodeSpecification.Setting("500M", "--max-rate"))),
                read.specification());
        assertEquals(credential.certificate(), read.credential().certificate());
        assertEquals("rest", new String(in.readAllBytes(), StandardCharsets.US_ASCII));
    }

    @Test
    void theLeadsSettingsComeWithTheirOrigins() {
        Settings lead = Settings.load().flag(Option.MAX_RATE, "500M").flag(Option.DEVICE, "soft");
        NodeSpecification specification = specification(NodeSpecification.given(lead));
        Settings agent = specification.over(Settings.load());
        assertEquals(new Settings.Value("500M", "--max-rate"), agent.value(Option.MAX_RATE));
        assertEquals(new Settings.Value("soft", "--device"), agent.value(Option.DEVICE));
        assertEquals("default", agent.value(Option.FILES_LIMIT).origin());
    }

    @Test
    void whatIsNoSpecificationIsRefusedByName() {
        String text = new String(bytes(), StandardCharsets.US_ASCII);
        Failure version = refused(text.replaceFirst(BEGIN, "udckpt-agent 999 ").getBytes(StandardCharsets.US_ASCII));
        assertEquals(ExitCode.UNSUPPORTED, version.code());
        assertTrue(version.getMessage().contains("version 999"), version.getMessage());
        for (String broken : new String[]{"", "\n", "hello\n", "x".repeat(100), BEGIN + "99999999999\n",
                BEGIN + "999999999\n", BEGIN + "4\nnull", BEGIN + "2\n{}",
                BEGIN + "2\n[]", text.replaceFirst("\"incarnation\"", "\"incarnate\""),
                text.replaceFirst("\"fanOut\":16", "\"fanOut\":99"), text.replaceFirst("10.1.2.3", "10.1.host"),
                text.replaceFirst("\"first\":2", "\"first\":3"),
                text.replaceFirst("max-rate", "max-rats"), text.replaceFirst("\"/home", "\"hhome"),
                text.substring(0, text.length() - 100)}) {
            Failure refused = refused(broken.getBytes(StandardCharsets.US_ASCII));
            assertTrue(refused.code() == ExitCode.USAGE || refused.code() == ExitCode.IO, broken + ": " + refused);
        }
    }

    /** Damage of any kind gives a failure that says so, or something that holds what a specification must. */
    @Test
    void damagedOnesNeverEndInAnythingElse() {
        byte[] whole = bytes();
        long seed = System.nanoTime();
        RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
        for (int round = 0; round < 3000; round++) {
            byte[] damaged = Arrays.copyOf(whole, random.nextInt(8) == 0 ? random.nextInt(whole.length) : whole.length);
            for (int hits = random.nextInt(1, 4); hits > 0 && damaged.length > 0; hits--) {
                damaged[random.nextInt(damaged.length)] = (byte) random.nextInt(32, 127);
            }
            try {
                assertEquals(2,
                        SpecificationText.read(new ByteArrayInputStream(damaged)).specification().job().units().size());
            } catch (Failure refused) {
                assertTrue(refused.code() != ExitCode.INTERNAL, () -> "seed " + seed + ": " + refused);
            }
        }
    }

    @Test
    void aUnitIsSaidOrNumbered() {
        NodeSpecification specification = specification(Map.of());
        assertEquals(1, new UnitChoice.Said(1).of(specification));
        assertEquals(1, new UnitChoice.Numbered("SLURM_PROCID", Map.of("SLURM_PROCID", "1")).of(specification));
        assertThrows(Failure.class, () -> new UnitChoice.Said(2).of(specification));
        Failure none =
                assertThrows(Failure.class, () -> new UnitChoice.Numbered("SLURM_PROCID", Map.of()).of(specification));
        assertTrue(none.getMessage().contains("SLURM_PROCID is not set"), none.getMessage());
    }

    @Test
    void aJobsUnitsHaveItsRanksWithoutAGap() {
        assertEquals(3, job().ranks());
        assertEquals(3, job().nodes());
        assertThrows(IllegalArgumentException.class,
                () -> new NodeJob("job", 0, LaunchMode.RANKS, List.of(), 16, "/", List.of("a"), Map.of(), null));
        assertThrows(IllegalArgumentException.class, () -> new NodeJob("job", 0, LaunchMode.RANKS,
                List.of(new Unit("a", "h", 1, 1)), 16, "/", List.of("a"), Map.of(), null));
        assertThrows(IllegalArgumentException.class, () -> new Unit("a", "-oProxyCommand=evil", 0, 1));
    }
}
