package org.udckpt.bench.workload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Programs that users bring: small ones stand for them that print what the real ones print, as far as their results go.
 */
class BroughtProgramsTest {
    @TempDir
    Path directory;

    /** The answer of a program that prints this; {@code name} is one of bench/workloads, with its parameter. */
    private Judgement judged(String name, String variable, String program, String script) throws Exception {
        Workload workload = workload(name, variable, program, script);
        return workload.answer().alone(run(workload));
    }

    private Workload workload(String name, String variable, String program, String script) throws Exception {
        Path file = directory.resolve(program);
        Files.createDirectories(file.getParent());
        Files.writeString(file, "#!/bin/sh\n" + script);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
        Map<String, String> places = new HashMap<>(Map.of(variable,
                (program.contains("/") ? directory : file).toString(), variable + "_INPUT", "/dev/null"));
        return Workloads.of(Path.of(System.getProperty("udckpt.root")), places).named(List.of(name)).getFirst();
    }

    private Answer.Run run(Workload workload) throws Exception {
        assertTrue(workload.supply().missing().isEmpty(), () -> workload.supply().missing().toString());
        Path work = Files.createTempDirectory(directory, "work");
        workload.provide(work);
        List<String> words =
                workload.builds().get(Mpi.MPICH).command().stream().map(word -> word.replace("{ranks}", "2")).toList();
        Process process = new ProcessBuilder(words).directory(work.toFile()).redirectErrorStream(true).start();
        try (BufferedReader reader = process.inputReader()) {
            return new Answer.Run(work, reader.lines().toList());
        }
    }

    @Test
    void hpcgIsValidByItsFile() throws Exception {
        String script = """
                test -r hpcg.dat || exit 1
                echo 'Final Summary::HPCG result is VALID with a GFLOP/s rating of=1.04463' \\
                    > HPCG-Benchmark_3.1_2026-01-02_03-04-05.txt
                """;
        Workload hpcg = workload("hpcg", "UDCKPT_HPCG", "xhpcg", script);
        Answer.Run run = run(hpcg);
        assertTrue(hpcg.answer().alone(run).isRight());
        assertEquals(1.04463, hpcg.figure().orElseThrow().in(hpcg.answer().output(run)).orElseThrow());
        assertFalse(judged("hpcg", "UDCKPT_HPCG", "xhpcg", script.replace("VALID with", "INVALID with")).isRight());
        assertFalse(judged("hpcg", "UDCKPT_HPCG", "xhpcg", "echo VALID").isRight(), "what it prints does not count");
    }

    @Test
    void npbVerifiesItself() throws Exception {
        String script = """
                echo ' CG Benchmark Completed.'
                echo ' Mop/s total     =                  1234.56'
                echo ' Verification    =               SUCCESSFUL'
                """;
        Workload cg = workload("npb:cg.S", "UDCKPT_NPB", "./cg.S.x", script);
        Answer.Run run = run(cg);
        assertEquals(Judgement.right("its own checks passed"), cg.answer().alone(run));
        assertEquals(1234.56, cg.figure().orElseThrow().in(run.printed()).orElseThrow());
        assertFalse(
                judged("npb:cg.S", "UDCKPT_NPB", "./cg.S.x", script.replace("  SUCCESSFUL", "UNSUCCESSFUL")).isRight());
    }

    @Test
    void namdPrintsEnergies() throws Exception {
        String script = """
                echo 'ETITLE:      TS           BOND          ANGLE'
                echo 'ENERGY:       0     20974.8941     19756.6571'
                echo 'ENERGY:      20     20475.1021     19712.3342'
                echo 'WallClock: 12.345678  CPUTime: 12.3  Memory: 100.0 MB'
                """;
        Workload namd = workload("namd", "UDCKPT_NAMD", "namd2", script);
        Answer.Run run = run(namd);
        assertTrue(namd.answer().compare(run, new Answer.Run(run.directory(), run.printed().subList(2, 4))).isRight(),
                "a restarted run prints the end");
        // /dev/null stands for that
        assertEquals(List.of(Path.of("/dev")), namd.supply().writtenDirectories(), "where its input is");
        List<String> other = run.printed().stream().map(line -> line.replace("20475.1", "20477.1")).toList();
        assertFalse(namd.answer().compare(run, new Answer.Run(run.directory(), other)).isRight());
        assertFalse(
                judged("namd", "UDCKPT_NAMD", "namd2", script + "echo 'FATAL ERROR: Exiting prematurely.'").isRight());
    }

    @Test
    void osuValidates() throws Exception {
        String script = """
                echo '# Size          Latency (us)        Validation'
                echo '1                       1.50              Pass'
                """;
        assertTrue(judged("osu:collective/osu_allreduce", "UDCKPT_OSU", "collective/osu_allreduce", script).isRight());
        assertFalse(judged("osu:collective/osu_allreduce", "UDCKPT_OSU", "collective/osu_allreduce",
                script + "echo '1048576    400.5     Fail'").isRight());
    }

    @Test
    void imbComesToItsEnd() throws Exception {
        assertTrue(judged("imb:Allreduce", "UDCKPT_IMB", "IMB-MPI1", "echo '# All processes entering MPI_Finalize'")
                .isRight());
        assertFalse(judged("imb:Allreduce", "UDCKPT_IMB", "IMB-MPI1",
                "echo '# Invalid benchmark name Allreduce'; echo '# All processes entering MPI_Finalize'").isRight());
    }

    @Test
    void comdLosesNoAtoms() throws Exception {
        String script = """
                echo '  Initial energy  : -1.166063303477'
                echo '  Final energy    : -1.166059615438'
                echo '  Final atom count : 65536, no atoms lost'
                """;
        assertTrue(judged("comd", "UDCKPT_COMD", "CoMD-mpi", script).isRight());
        assertFalse(judged("comd", "UDCKPT_COMD", "CoMD-mpi",
                script.replace("  Final atom count : 65536, no atoms lost", "# WARNING:     12 atoms lost #"))
                .isRight());
    }

    @Test
    void minimdsRowsCountWithoutTheirTimes() throws Exception {
        String script = """
                echo '# Timestep T U P Time'
                echo '0 1.440000e+00 -6.773368e+00 -5.019671e+00  0.000'
                echo '100 7.310629e-01 -5.712170e+00 1.204577e+00  3.650'
                echo '# Performance Summary:'
                """;
        Workload minimd = workload("minimd", "UDCKPT_MINIMD", "miniMD", script);
        Answer.Run run = run(minimd);
        List<String> later = run.printed().stream().map(line -> line.replace("3.650", "9.999")).toList();
        assertEquals(Judgement.right("2 of 2 lines bit for bit"),
                minimd.answer().compare(run, new Answer.Run(run.directory(), later)));
        List<String> wrong = run.printed().stream().map(line -> line.replace("7.31", "7.32")).toList();
        assertFalse(minimd.answer().compare(run, new Answer.Run(run.directory(), wrong)).isRight());
    }

    @Test
    void leanmdCompletes() throws Exception {
        assertTrue(judged("leanmd", "UDCKPT_LEANMD", "leanmd", "echo 'Simulation completed'").isRight());
        assertFalse(judged("leanmd", "UDCKPT_LEANMD", "leanmd", "echo '[0] Stack Traceback: Reason: out of memory'")
                .isRight());
    }
}
