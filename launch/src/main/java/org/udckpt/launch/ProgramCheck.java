package org.udckpt.launch;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;
import org.udckpt.support.runtime.RuntimeDirectory;

/** Refuses, before anything is started, a program that could not be checkpointed, and says why. */
public final class ProgramCheck {
    private static final int SETUID_OR_SETGID = 06000;
    private static final int SETUID = 04000;
    private static final int SCRIPT_DEPTH = 4; // as the kernel's limit in fs/exec.c
    private static final int HEAD_BYTES = 256;

    private ProgramCheck() {}

    /**
     * Finds the program as execvp(3) would and checks it.
     *
     * @param searchPath the value of PATH
     * @param launch a program that udckpt starts as ranks must speak PMI-1, and be able to load the library
     * @return its path
     */
    public static Path resolve(String program, String searchPath, LaunchMode launch) {
        Path path = program.contains("/") ? Path.of(program).toAbsolutePath() : search(program, searchPath);
        check(path, 0, launch);
        return path;
    }

    private static Path search(String program, String searchPath) {
        if (program.isEmpty()) {
            throw new Failure(ExitCode.NOT_FOUND, "the program's name is empty");
        }
        Path unusable = null;
        for (String folder : searchPath.split(":")) {
            Path candidate = Path.of(folder.isEmpty() ? "." : folder, program).toAbsolutePath();
            if (Files.isRegularFile(candidate)) {
                if (Files.isExecutable(candidate)) {
                    return candidate;
                }
                unusable = candidate;
            }
        }
        if (unusable != null) {
            return unusable; // check() says that it is not executable
        }
        throw new Failure(ExitCode.NOT_FOUND,
                "program " + program + " not found in PATH; give its path, such as ./" + program);
    }

    private static void check(Path path, int depth, LaunchMode launch) {
        if (!Files.exists(path)) {
            throw new Failure(ExitCode.NOT_FOUND, "program " + path + " does not exist");
        }
        if (!Files.isRegularFile(path)) {
            throw new Failure(ExitCode.NOT_FOUND, path + " is not a program, it is a " + (Files.isDirectory(path)
                    ? "directory" : "special file"));
        }
        if (!Files.isExecutable(path)) {
            throw new Failure(ExitCode.PERMISSION, "program " + path + " is not executable; try: chmod +x " + path);
        }
        try {
            checkMode(path);
            byte[] head;
            try (InputStream input = Files.newInputStream(path)) {
                head = input.readNBytes(HEAD_BYTES);
            }
            if (ElfFile.isElf(head)) {
                checkElf(path, ElfFile.read(path), launch);
            } else if (head.length >= 2 && head[0] == '#' && head[1] == '!') {
                checkScript(path, new String(head, StandardCharsets.ISO_8859_1), depth, launch);
            } else {
                throw new Failure(ExitCode.UNSUPPORTED,
                        path + " is neither an ELF program nor a script that begins with #!");
            }
        } catch (IOException e) {
            throw Failure.of("reading program " + path, e);
        }
    }

    private static void checkMode(Path path) throws IOException {
        int mode = (int) Files.getAttribute(path, "unix:mode");
        boolean ownFile = (int) Files.getAttribute(path, "unix:uid") == RuntimeDirectory.uid();
        boolean dropsPreload = (mode & SETUID_OR_SETGID) != 0 && !(ownFile && (mode & SETUID_OR_SETGID) == SETUID);
        if (dropsPreload) {
            throw new Failure(ExitCode.UNSUPPORTED, "program " + path
                    + " is setuid or setgid: the system would ignore LD_PRELOAD for it (ld.so(8)); use a copy without "
                    + "that bit");
        }
    }

    private static void checkElf(Path path, ElfFile elf, LaunchMode launch) {
        if (elf.machine() != ElfFile.MACHINE_X86_64) {
            throw new Failure(ExitCode.UNSUPPORTED, "program " + path + " is for another architecture (e_machine "
                    + elf.machine() + "); udckpt supports x86-64 programs");
        }
        switch (launch) {
            case RANKS -> {
                requireDynamic(path, elf);
                refuseOpenMpi(path, elf);
            }
            case PMIX -> {
                requireDynamic(path, elf);
                refuseMpich(path, elf);
            }
            case TREE -> {
                if (elf.interpreter() == null) {
                    Messages.warn("program " + path + " is statically linked and runs without libudckpt.so: memory, "
                            + "threads and descriptors are saved, verbs are not;"
                            + " killing this udckpt during a checkpoint may kill the program");
                }
            }
        }
    }

    private static void requireDynamic(Path path, ElfFile elf) {
        if (elf.interpreter() == null) {
            throw new Failure(ExitCode.UNSUPPORTED,
                    "program " + path
                            + " is statically linked: libudckpt.so cannot be preloaded into it; link it dynamically,"
                            + " or, if it uses no verbs, run it without -n");
        }
    }

    private static void refuseOpenMpi(Path path, ElfFile elf) {
        if (elf.needed().contains("libmpi.so.40")) {
            throw new Failure(ExitCode.UNSUPPORTED, "program " + path + " is linked to Open MPI (libmpi.so.40), "
                    + "which needs PMIx instead of PMI-1:"
                    + " give --mpi pmix; or, on one host, start it by its own launcher (udckpt run -- mpirun -n N "
                    + path + "), or build it with MPICH (mpicc.mpich)");
        }
    }

    private static void refuseMpich(Path path, ElfFile elf) {
        if (elf.needed().contains("libmpich.so.12")) {
            throw new Failure(ExitCode.UNSUPPORTED, "program " + path + " is linked to MPICH (libmpich.so.12), which "
                    + "needs PMI-1: leave --mpi pmix out");
        }
    }

    private static void checkScript(Path path, String head, int depth, LaunchMode launch) {
        String line = head.substring(2).lines().findFirst().orElse("").strip();
        String interpreter = line.split("\\s+", 2)[0];
        if (interpreter.isEmpty() || !interpreter.startsWith("/")) {
            throw new Failure(ExitCode.UNSUPPORTED, "script " + path + " does not name an interpreter by absolute "
                    + "path in its first line");
        }
        if (depth >= SCRIPT_DEPTH) {
            throw new Failure(ExitCode.UNSUPPORTED,
                    "script " + path + ": more than " + SCRIPT_DEPTH + " interpreters in a chain");
        }
        check(Path.of(interpreter), depth + 1, launch);
    }
}
