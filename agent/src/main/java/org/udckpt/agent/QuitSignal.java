package org.udckpt.agent;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import org.udckpt.linux.NativeCall;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;

/** SIGQUIT, which the JVM keeps for itself unless native code takes it away (agent_quit.c). */
@SuppressWarnings("restricted") // native code and memory are reached by java.lang.foreign alone: --enable-native-access
final class QuitSignal {
    private QuitSignal() {}

    /** From here on each SIGQUIT runs {@code toJob}; once in a process. */
    static void take(Path library, Runnable toJob) {
        int descriptor = descriptor(library);
        if (descriptor < 0) {
            throw new Failure(ExitCode.INTERNAL, "taking SIGQUIT from the JVM: errno " + -descriptor);
        }
        Thread.ofPlatform().daemon().name("quit-signal").start(() -> pass(descriptor, toJob));
    }

    private static int descriptor(Path library) {
        return (int) NativeCall.call(
                SymbolLookup.libraryLookup(library, Arena.global()).findOrThrow("udckpt_agent_take_quit"), 0, 0, 0);
    }

    private static void pass(int descriptor, Runnable toJob) {
        try (InputStream signals = Files.newInputStream(Path.of("/proc/self/fd/" + descriptor))) {
            while (signals.read() >= 0) {
                toJob.run();
            }
        } catch (IOException e) {
            Messages.error("SIGQUIT is no longer forwarded to the job: " + e, e);
        }
    }
}
