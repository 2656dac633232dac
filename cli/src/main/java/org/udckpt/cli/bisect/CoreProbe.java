package org.udckpt.cli.bisect;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.udckpt.image.key.ImageKey;
import org.udckpt.inspect.core.CoreExport;
import org.udckpt.store.OpenImage;
import org.udckpt.store.ProcessChoice;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;

/** Asks gdb about a checkpoint, by way of a core file: nothing runs, and nothing but that file is written. */
public final class CoreProbe {
    private static final long GDB_SECONDS = 600;

    private final Question question;
    private final ImageKey key;
    private final List<String> gdb;
    private final Path work;
    private final Set<String> told = new HashSet<>();

    /** @param work for a core file at a time */
    public CoreProbe(Question question, ImageKey key, List<String> gdb, Path work) {
        this.question = question;
        this.key = key;
        this.gdb = gdb;
        this.work = work;
    }

    /**
     * A checkpoint that is damaged, or has no such process, says nothing; a full disk, or the lack of a key, ends the
     * search.
     */
    public ProbeResult ask(Path checkpoint) {
        Path core = work.resolve("core");
        try (OpenImage image = OpenImage.open(checkpoint.toString(), key)) {
            ProcessChoice.Chosen process = question.process().one(image);
            CoreExport.Result result = new CoreExport(process.node(), process.state()).write(core, (_, _) -> {});
            result.problems().stream().filter(told::add).forEach(Messages::warn);
            return verdict(gdb(process.state().executable(), core, result.threads()));
        } catch (IOException | RuntimeException e) {
            Failure failure = Failure.of("reading " + checkpoint.getFileName(), e);
            switch (failure.code()) {
                case CORRUPT, NOT_FOUND -> {
                    return ProbeResult.unknown(failure.getMessage());
                }
                default -> throw failure;
            }
        } finally {
            delete(core);
        }
    }

    private static void delete(Path core) {
        try {
            Files.deleteIfExists(core);
        } catch (IOException e) {
            throw Failure.of("removing " + core, e);
        }
    }

    /**
     * In each thread in turn where a function's frame is wanted, which may be on any stack. An error ends one file of
     * commands, not the next.
     */
    private String gdb(String program, Path core, int threads) throws IOException {
        List<String> words = new ArrayList<>(gdb);
        words.addAll(List.of("-q", "-batch", "-iex", "set sysroot", "-ex", "echo \\n" + Question.BEGIN + "\\n"));
        for (int thread = 1; thread <= (question.frame() == null ? 1 : threads); thread++) {
            words.addAll(
                    List.of("-x", Files.write(work.resolve("question-" + thread), question.inCore(thread)).toString()));
        }
        words.addAll(List.of(program, core.toString()));
        Process process =
                new ProcessBuilder(words).redirectInput(Path.of("/dev/null").toFile()).redirectErrorStream(true)
                        .redirectOutput(work.resolve("answer").toFile()).start();
        try {
            if (!process.waitFor(GDB_SECONDS, TimeUnit.SECONDS)) {
                throw new Failure(ExitCode.TIMEOUT, gdb.getFirst() + " did not answer within " + GDB_SECONDS + " s");
            }
            return new String(Files.readAllBytes(work.resolve("answer")), StandardCharsets.UTF_8);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Failure(ExitCode.INTERNAL, "interrupted while gdb looked at a checkpoint", e);
        } finally {
            process.destroyForcibly();
        }
    }

    /** The first answer is that of the first thread that has one. Without any, gdb has said why. */
    static ProbeResult verdict(String said) {
        int begin = said.indexOf(Question.BEGIN);
        List<String> lines = (begin < 0 ? said : said.substring(begin + Question.BEGIN.length())).lines().toList();
        for (String line : lines) {
            if (line.equals(Question.TRUE)) {
                return ProbeResult.TRUE;
            }
            if (line.equals(Question.FALSE)) {
                return ProbeResult.FALSE;
            }
        }
        int place = 0;
        while (place < lines.size() && !lines.get(place).contains("Error in sourced command file:")) {
            place++;
        }
        String words =
                String.join(" ", lines.subList(Math.min(place + 1, lines.size()), Math.min(place + 2, lines.size())));
        Messages.debugTrace("gdb says", new IOException(said));
        return ProbeResult.unknown(words.isBlank() ? "gdb gave no answer: " + String.join(" ", lines).strip()
                : words.strip().replaceAll("\\.$", ""));
    }
}
