package org.udckpt.agent;

import static org.udckpt.linux.LinuxConstants.SIGHUP;
import static org.udckpt.linux.LinuxConstants.SIGINT;
import static org.udckpt.linux.LinuxConstants.SIGQUIT;
import static org.udckpt.linux.LinuxConstants.SIGTERM;
import static org.udckpt.linux.LinuxConstants.SIGUSR1;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.IntConsumer;
import org.udckpt.linux.Proc;
import org.udckpt.support.report.Messages;
import sun.misc.Signal;

/** Passes the signals that this process gets on to the job, and names signals. */
public final class SignalForwarding {
    // Numbers of signal(7) on x86-64.
    private static final Map<String, Integer> FORWARDED = forwarded();
    private static final String[] NAMES =
            {"0", "Hangup", "Interrupt", "Quit", "Illegal instruction", "Trace trap", "Aborted", "Bus error",
                    "Floating point exception", "Killed", "User signal 1", "Segmentation fault", "User signal 2",
                    "Broken pipe", "Alarm clock", "Terminated"};

    private static volatile IntConsumer receiver;
    private static int kept;
    private static volatile int askedEnd;

    private SignalForwarding() {}

    private static Map<String, Integer> forwarded() {
        Map<String, Integer> numbers = new LinkedHashMap<>();
        numbers.put("HUP", SIGHUP);
        numbers.put("INT", SIGINT);
        numbers.put("USR1", SIGUSR1);
        numbers.put("USR2", 12);
        numbers.put("TERM", SIGTERM);
        return numbers;
    }

    /**
     * From here on each of them goes to the job, and to no other one; one that this process was started to ignore
     * (nohup) stays ignored. SIGQUIT always goes, as under mpiexec: the JVM's own handler has hidden whether it was.
     *
     * @param agentLibrary libudckpt-agent.so
     */
    public static synchronized void forward(Path agentLibrary, IntConsumer toJob) {
        boolean first = receiver == null;
        receiver = toJob;
        if (first) {
            take(agentLibrary);
        }
    }

    /** USR1 is for this process itself, also before {@link #forward}, and never goes to the job. */
    public static synchronized void keepUser1(Runnable action) {
        kept = SIGUSR1;
        Signal.handle(new Signal("USR1"), signal -> action.run());
    }

    /** ^Z does not stop this process. @param why not, for the user who pressed it */
    public static void refuseStop(String why) {
        Signal.handle(new Signal("TSTP"), signal -> Messages.warn("^Z (TSTP) is ignored: " + why));
    }

    /** As {@link #forward}, between two incarnations of a job. */
    public static void redirect(IntConsumer to) {
        receiver = to;
    }

    private static void take(Path agentLibrary) {
        QuitSignal.take(agentLibrary, () -> deliver(SIGQUIT));
        long ignored = ignored();
        FORWARDED.forEach((name, number) -> {
            if (number != kept && (ignored >> (number - 1) & 1) == 0) {
                Signal.handle(new Signal(name), signal -> deliver(number));
            }
        });
    }

    private static void deliver(int number) {
        askedEnd = asksForEnd(number) ? number : askedEnd;
        receiver.accept(number);
    }

    /** The last signal that asked for the job's end, whoever was there to hear it; 0: none did. */
    public static int askedEnd() {
        return askedEnd;
    }

    /** Whether a terminal sends this one for a key, to its foreground group: ^C, ^\\. */
    static boolean fromKeys(int number) {
        return number == SIGINT || number == SIGQUIT;
    }

    private static long ignored() {
        return Long.parseUnsignedLong(Proc.field(Proc.text("/proc/self/status"), "SigIgn:"), 16);
    }

    /** Whether it asks a program for its end, rather than for something that the program defines. */
    public static boolean asksForEnd(int signal) {
        return signal == SIGINT || signal == SIGQUIT || signal == SIGTERM;
    }

    public static String name(int signal) {
        return signal < NAMES.length ? NAMES[signal] : "signal " + signal;
    }
}
