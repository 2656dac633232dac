package org.udckpt.bench.workload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WorkloadsTest {
    private static final String GOOD = """
            # a comment
            title = heat, in = out
            ranks = 2
            allowed-ranks = 1-8
            inputs = in.heat
            prepare = mesh -o mesh.out
            prepare = check mesh.out
            environment = OMP_NUM_THREADS=1
            answer = energy = .*
            tolerance = 1e-9
            answer-file = heat.log
            same-files = a b
            proof = ^done$
            flaw = FAILED

            [mpich]
            packages = heat-mpich
            command = {programs}/heat -in in.heat
            environment = A=B=C
            [openmpi]
            packages = heat-openmpi heat-data
            command = heat.openmpi
            launcher-options = --mca osc ucx
            """;

    @TempDir
    Path directory;

    private Workload read(String text) throws Exception {
        return read(text, "heat", Map.of());
    }

    private Workload read(String text, String name, Map<String, String> places) throws Exception {
        Path heat = Files.createDirectories(directory.resolve("heat"));
        Files.writeString(heat.resolve("in.heat"), "");
        Files.writeString(heat.resolve("workload"), text);
        return new Workloads(directory, new Substitutions(Path.of("/programs"), places)).named(List.of(name))
                .getFirst();
    }

    @Test
    void everyKeyIsRead() throws Exception {
        Workload heat = read(GOOD);
        assertEquals("heat", heat.name());
        assertEquals("heat, in = out", heat.title());
        assertEquals(2, heat.ranks());
        assertEquals(new AllowedRanks(1, 8, AllowedRanks.Shape.ANY), heat.allowedRanks());
        assertEquals(List.of("ud", "rc"), heat.transports());
        assertEquals(List.of("rc"), read(GOOD.replace("flaw = FAILED", "transports = rc")).transports());
        assertEquals(List.of("in.heat"), heat.inputs());
        assertEquals(List.of(List.of("mesh", "-o", "mesh.out"), List.of("check", "mesh.out")), heat.preparations());
        Answer answer = heat.answer();
        assertEquals("energy = .*", answer.lines().orElseThrow().pattern());
        assertEquals(Tolerance.of(1e-9), answer.tolerance());
        assertEquals("heat.log", answer.file().orElseThrow());
        assertEquals(List.of("a", "b"), answer.sameFiles());
        assertEquals(List.of("^done$"), answer.proofs().stream().map(Pattern::pattern).toList());
        assertEquals(List.of("FAILED"), answer.flaws().stream().map(Pattern::pattern).toList());
        assertEquals(
                new Build(List.of("heat-mpich"), List.of("/programs/heat", "-in", "in.heat"),
                        Map.of("OMP_NUM_THREADS", "1", "A", "B=C"), List.of()),
                heat.builds().get(Mpi.MPICH));
        assertEquals(
                new Build(List.of("heat-openmpi", "heat-data"), List.of("heat.openmpi"), Map.of("OMP_NUM_THREADS", "1"),
                        List.of("--mca", "osc", "ucx")),
                heat.builds().get(Mpi.OPENMPI));
    }

    /** An error in a line is reported with file and line; a missing line, with the file. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "title = heat, in = out | titel = heat | workload:2: no key 'titel' here",
            "ranks = 2 | ranks = two | workload:3: not a number of ranks: 'two'",
            "ranks = 2 | ranks = 9 | ranks = 9 is not within allowed-ranks = 1-8",
            "allowed-ranks = 1-8 | allowed-ranks = 8-1 | workload:4: not a range like 1-16, which may be followed by "
                    + "squares or powers-of-two: '8-1'",
            "allowed-ranks = 1-8 | allowed-ranks = 1-8 primes | workload:4: not a range like 1-16, which may be "
                    + "followed by squares or powers-of-two: '1-8 primes'",
            "allowed-ranks = 1-8 | allowed-ranks = 5-8 squares | workload:4: not a range like 1-16",
            "allowed-ranks = 1-8 | allowed-ranks = 1-3 squares | ranks = 2 is not within allowed-ranks = 1-3 (squares)",
            "flaw = FAILED | long = maybe | workload:14: neither yes nor no: 'maybe'",
            "allowed-ranks = 1-8 | ranks = 3 | workload:4: a second ranks",
            "allowed-ranks = 1-8 | # none | allowed-ranks is missing",
            "inputs = in.heat | inputs = in.cold | its input in.cold is not in",
            "answer = energy = .* | answer = energy( | workload:9: not a regular expression",
            "answer = energy = .* | # none | a tolerance is one of the numbers in an answer",
            "tolerance = 1e-9 | tolerance = 0 | workload:10: a tolerance is written ABSOLUTE [RELATIVE [COLUMN...]], "
                    + "with numbers of which one is above 0, not '0'",
            "tolerance = 1e-9 | tolerance = NaN | workload:10: a tolerance is written ABSOLUTE [RELATIVE "
                    + "[COLUMN...]], with numbers of which one is above 0, not 'NaN'",
            "same-files = a b | same-files = | workload:12: same-files has no value",
            "flaw = FAILED | transports = rc roce | transports names 'roce', which is none of ud, rc",
            "flaw = FAILED | flaw | workload:14: neither 'key = value'",
            "flaw = FAILED | command = x | workload:14: no key 'command' here",
            "[mpich] | [lam] | workload:16: no section [lam]; sections are mpich, openmpi",
            "[openmpi] | [mpich] | workload:20: a second [mpich]",
            "environment = A=B=C | environment = A | workload:19: an environment variable is written NAME=VALUE",
            "command = heat.openmpi | # none | command is missing",
    })
    void whatIsNotRightIsSaid(String right, String wrong, String words) {
        WorkloadError error = assertThrows(WorkloadError.class, () -> read(GOOD.replace(right, wrong)));
        assertTrue(error.getMessage().contains(words), error.getMessage());
    }

    @Test
    void whatTheUserBringsAndAParameterComeIntoTheCommand() throws Exception {
        String text = """
                title = heat of {parameter}
                ranks = 2
                allowed-ranks = 1-8
                parameter = (bar|plate)\\.[A-C]
                default-parameter = bar.A
                brought = path HEAT
                brought = input HEAT_INPUT
                advice = ask for it
                advice = HEAT=...
                proof = done
                figure = rate GFLOP/s rate ([\\d.]+)
                known = it is slow
                [mpich]
                command = {path}/{parameter}.x {input} -n {ranks}
                """;
        Workload bare = read(text, "heat", Map.of("HEAT", "/opt/heat"));
        assertEquals("heat", bare.name());
        assertEquals("heat of bar.A", bare.title());
        assertEquals(List.of("/opt/heat/bar.A.x", "{input}", "-n", "{ranks}"), bare.builds().get(Mpi.MPICH).command());
        assertEquals(List.of(new UserProgram("input", "HEAT_INPUT", Optional.empty())), bare.supply().missing());
        assertEquals(List.of("ask for it", "HEAT=..."), bare.supply().advice());
        assertEquals(List.of("it is slow"), bare.known());
        assertEquals(2.5, bare.figure().orElseThrow().in(List.of("rate 1.5", "rate 2.5", "end")).orElseThrow());

        Workload plate = read(text, "heat:plate.C", Map.of("HEAT", "/h", "HEAT_INPUT", "/in"));
        assertEquals("heat:plate.C", plate.name());
        assertEquals("heat-plate.C", plate.fileName());
        assertEquals(List.of("/h/plate.C.x", "/in", "-n", "{ranks}"), plate.builds().get(Mpi.MPICH).command());
        assertTrue(plate.supply().missing().isEmpty());
        assertEquals("udckpt run -- $HEAT/plate.C.x $HEAT_INPUT",
                plate.supply().withoutPlaces("udckpt run -- /h/plate.C.x /in"));

        assertTrue(assertThrows(WorkloadError.class, () -> read(text, "heat:ring.A", Map.of())).getMessage()
                .contains("has to match '(bar|plate)"));
        assertTrue(assertThrows(WorkloadError.class, () -> read(GOOD, "heat:bar.A", Map.of())).getMessage()
                .contains("heat has no parameter"));
        assertTrue(assertThrows(WorkloadError.class,
                () -> read(text.replace("brought = path HEAT\n", "brought = HEAT\n"), "heat", Map.of())).getMessage()
                .contains("workload:6: what the user brings is written WORD VARIABLE"));
        assertTrue(assertThrows(WorkloadError.class,
                () -> read(text.replace("rate GFLOP/s rate ([\\d.]+)", "rate GFLOP/s rate"), "heat", Map.of()))
                .getMessage()
                .contains("workload:11: the number of a figure is the first group"));
    }

    @Test
    void howManyRanksDependsOnTheParameter() throws Exception {
        String text = """
                title = heat
                ranks = 2
                allowed-ranks = 1-64 powers-of-two
                allowed-ranks-of = plate\\..* 1-64 squares
                parameter = (bar|plate)\\.[A-C]
                default-parameter = bar.A
                proof = done
                [mpich]
                command = x
                """;
        Workload bar = read(text, "heat", Map.of());
        Workload plate = read(text, "heat:plate.B", Map.of());
        assertEquals(2, bar.ranks());
        assertEquals(4, plate.ranks(), "two is no square; four is the next");
        assertEquals(List.of(1, 2, 4, 8, 16, 32, 64),
                IntStream.rangeClosed(0, 100).filter(bar.allowedRanks()::hold).boxed().toList());
        assertEquals(List.of(1, 4, 9, 16, 25, 36, 49, 64),
                IntStream.rangeClosed(0, 100).filter(plate.allowedRanks()::hold).boxed().toList());
    }

    @Test
    void aResultAndABuildAreNeeded() {
        String bare = "title = x\nranks = 1\nallowed-ranks = 1-1\n";
        assertTrue(assertThrows(WorkloadError.class, () -> read(bare)).getMessage().contains("no build is described"));
        assertTrue(assertThrows(WorkloadError.class, () -> read(bare + "[mpich]\ncommand = x\n")).getMessage()
                .contains("nothing says what its result is"));
    }

    @Test
    void anUnknownNameIsSaidWithThoseThatAreThere() throws Exception {
        read(GOOD);
        WorkloadError error = assertThrows(WorkloadError.class,
                () -> new Workloads(directory, new Substitutions(directory, Map.of())).named(List.of("cold")));
        assertTrue(
                error.getMessage().contains("no application 'cold'") && error.getMessage().contains("there are heat"),
                error.getMessage());
    }

    @Test
    void allThatAreShippedAreRight() throws Exception {
        Workloads shipped = Workloads.of(Path.of(System.getProperty("udckpt.root")));
        assertTrue(shipped.names().containsAll(List.of("lammps", "nwchem", "stencil")),
                () -> "these are there: " + directory);
        assertEquals(shipped.names(), shipped.named(shipped.names()).stream().map(Workload::name).toList());
        assertTrue(shipped.suite().stream().map(Workload::name).toList().contains("stencil"));
        assertFalse(shipped.suite().stream().map(Workload::name).toList().contains("npb"),
                "its program has to be brought");
    }
}
