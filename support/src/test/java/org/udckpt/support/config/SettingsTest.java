package org.udckpt.support.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

class SettingsTest {
    @TempDir
    Path directory;

    @Test
    void theLaterOriginWins() throws Exception {
        Path site = Files.writeString(directory.resolve("site"), "keep = 3\ninterval = 10m\ndevice = soft\n");
        Path user = Files.writeString(directory.resolve("user"), "keep = 4\nkeeep = 5\n");
        Settings settings = Settings.load(site, user, Map.of("UDCKPT_KEEP", "5", "UDCKPT_INTERVALL", "x"));
        assertEquals(new Settings.Value("5", "UDCKPT_KEEP"), settings.value(Option.KEEP));
        assertEquals(new Settings.Value("10m", site.toString()), settings.value(Option.INTERVAL));
        assertEquals(new Settings.Value("6", "--keep"), settings.flag(Option.KEEP, "6").value(Option.KEEP));
        assertEquals("default", settings.value(Option.DIR).origin());
        assertEquals(2, settings.warnings().size(), settings.warnings().toString());
        assertTrue(settings.warnings().get(0).contains("'keeep'"));
        assertTrue(settings.warnings().get(1).contains("did you mean UDCKPT_INTERVAL?"));
    }

    private static String item(Option option) {
        String fallback = option.fallback().isEmpty() ? "" : ", default `" + option.fallback() + "`";
        return "`%s` (%s%s): %s".formatted(option.key(), option.variable(), fallback, option.help());
    }

    /** docs/operator/settings.md says what the program does. */
    /** A setting may have had another name in earlier versions. */
    @Test
    void formerNamesAreReadAndPresentOnesWin() throws Exception {
        Path site = Files.writeString(directory.resolve("site"), "lease = 20s\nfull-every = 3\nfull-interval = 4\n");
        Path none = directory.resolve("none");
        Settings settings = Settings.load(site, none, Map.of("UDCKPT_ROLLED_BACK", "discard", "UDCKPT_OUTSIDE", "close",
                "UDCKPT_EXTERNAL_CONNECTIONS", "refuse"));
        assertEquals(Duration.ofSeconds(20), settings.duration(Option.HEARTBEAT_TIMEOUT));
        assertEquals("4", settings.text(Option.FULL_INTERVAL));
        assertEquals("refuse", settings.text(Option.EXTERNAL_CONNECTIONS));
        assertEquals("UDCKPT_ROLLED_BACK", settings.value(Option.REPLACED_FILES).origin());
        assertEquals("discard", settings.text(Option.REPLACED_FILES));
        assertEquals(List.of(), settings.warnings());
    }

    @Test
    void eachIsDocumentedAsItIs() throws Exception {
        String page = Files.readString(Path.of(System.getProperty("udckpt.root"), "docs/operator/settings.md"));
        List<String> items = Stream.of(page.split("\n\\* ")).skip(1)
                .map(item -> item.strip().replaceAll("\\s+", " ")).toList();
        assertEquals(Stream.of(Option.values()).map(SettingsTest::item).toList(), items);
    }

    /** `bench run` has them from the user's environment, and starts jobs in it. */
    @Test
    void whereTheRunnersProgramsAreIsNothingUnknown() throws Exception {
        Map<String, String> environment = new HashMap<>();
        try (Stream<Path> workloads = Files.walk(Path.of(System.getProperty("udckpt.root"), "bench/workloads"))) {
            for (Path workload : workloads.filter(path -> path.getFileName().toString().equals("workload")).toList()) {
                Files.readAllLines(workload).stream().filter(line -> line.startsWith("brought ="))
                        .forEach(line -> environment.put(line.substring(line.lastIndexOf(' ') + 1), "x"));
            }
        }
        assertTrue(environment.containsKey("UDCKPT_HPCG"), environment.toString());
        assertEquals(List.of(),
                Settings.load(directory.resolve("none"), directory.resolve("none"), environment).warnings());
    }

    @Test
    void everyOptionHasItsNamesAndAUsableDefault() {
        Settings settings = Settings.load(directory.resolve("none"), directory.resolve("none"), Map.of());
        assertEquals(Duration.ZERO, settings.duration(Option.INTERVAL));
        assertEquals(Duration.ofSeconds(10), settings.duration(Option.QUIESCE_TIMEOUT));
        assertEquals(Duration.ofSeconds(30), settings.duration(Option.REBUILD_TIMEOUT));
        assertEquals(0, settings.count(Option.KEEP));
        assertEquals("auto", settings.text(Option.DEVICE));
        assertEquals("auto", settings.choice(Option.LAZY));
        assertEquals("UDCKPT_LAZY", Option.LAZY.variable());
        assertEquals("UDCKPT_QUIESCE_TIMEOUT", Option.QUIESCE_TIMEOUT.variable());
    }

    @Test
    void whatCannotBeMeantIsRefused() {
        Settings settings = Settings.load(directory.resolve("none"), directory.resolve("none"), Map.of());
        assertTrue(
                assertThrows(Failure.class, () -> settings.flag(Option.INTERVAL, "200000d").duration(Option.INTERVAL))
                        .getMessage().contains("a shorter duration"));
        settings.flag(Option.INTERVAL, "0");
        assertThrows(Failure.class, () -> settings.flag(Option.MAX_RATE, "500").checked(),
                "500 bytes a second: the M was forgotten");
        settings.flag(Option.MAX_RATE, "500K").checked();
        String said = settings.flag(Option.ENCRYPT, "00112233").bad(Option.ENCRYPT, "file:PATH").getMessage();
        assertTrue(!said.contains("00112233"), "a key is shown: " + said);
    }

    @Test
    void badValuesAreUsageErrorsThatNameTheirOrigin() {
        Settings settings =
                Settings.load(directory.resolve("none"), directory.resolve("none"), Map.of("UDCKPT_INTERVAL", "soon"));
        Failure failure = assertThrows(Failure.class, () -> settings.duration(Option.INTERVAL));
        assertEquals(ExitCode.USAGE, failure.code());
        assertTrue(failure.getMessage().startsWith("UDCKPT_INTERVAL: 'soon'"), failure.getMessage());
        assertThrows(Failure.class, () -> settings.flag(Option.LAZY, "yes").choice(Option.LAZY));
        assertThrows(Failure.class, () -> settings.flag(Option.KEEP, "-1").count(Option.KEEP));
        assertThrows(Failure.class,
                () -> settings.flag(Option.INTERVAL, "99999999999999999999d").duration(Option.INTERVAL));
    }

    @Test
    void theIntervalAndTheMeanTimeBetweenFailures() {
        assertEquals(new Interval.Never(), interval(Map.of()));
        assertEquals(new Interval.Fixed(Duration.ofMinutes(5)), interval(Map.of("UDCKPT_INTERVAL", "5m")));
        assertEquals(new Interval.Adaptive(Duration.ofHours(12)),
                interval(Map.of("UDCKPT_INTERVAL", "auto", "UDCKPT_MTBF", "12h")));
        assertEquals(new Interval.Adaptive(Duration.ofHours(12)), interval(Map.of("UDCKPT_MTBF", "12h")));
        assertEquals(new Interval.Fixed(Duration.ofMinutes(5)),
                interval(Map.of("UDCKPT_INTERVAL", "5m", "UDCKPT_MTBF", "12h")));
        assertEquals(new Interval.Never(), interval(Map.of("UDCKPT_INTERVAL", "0", "UDCKPT_MTBF", "12h")));
        Failure failure = assertThrows(Failure.class, () -> interval(Map.of("UDCKPT_INTERVAL", "auto")));
        assertEquals(ExitCode.USAGE, failure.code());
        assertTrue(failure.getMessage().contains("--mtbf"), failure.getMessage());
    }

    private Interval interval(Map<String, String> environment) {
        return Interval.of(Settings.load(directory.resolve("none"), directory.resolve("none"), environment).checked());
    }

    @Test
    void bytes() {
        assertEquals(500L << 20, bytes("500M"));
        assertEquals(2L << 30, bytes("2 G"));
        assertEquals(1L << 40, bytes("1T"));
        assertEquals(3 << 10, bytes("3K"));
        assertEquals(1_000_000, bytes("1000000"));
        for (String bad : new String[]{"", "fast", "1.5G", "-1", "10MB", "9999999999T", "99999999999999999999"}) {
            assertEquals(ExitCode.USAGE, assertThrows(Failure.class, () -> bytes(bad), bad).code());
        }
        Settings small =
                Settings.load(directory.resolve("none"), directory.resolve("none"), Map.of("UDCKPT_BUFFER", "1M"));
        assertTrue(assertThrows(Failure.class, small::checked).getMessage().startsWith("UDCKPT_BUFFER: '1M'"));
        Settings maybe =
                Settings.load(directory.resolve("none"), directory.resolve("none"), Map.of("UDCKPT_IO_IDLE", "maybe"));
        assertTrue(assertThrows(Failure.class, maybe::checked).getMessage().contains("true or false"));
    }

    private long bytes(String text) {
        return Settings.load(directory.resolve("none"), directory.resolve("none"), Map.of("UDCKPT_MAX_RATE", text))
                .bytes(Option.MAX_RATE, 0);
    }
}
