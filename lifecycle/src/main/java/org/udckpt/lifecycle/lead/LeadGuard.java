package org.udckpt.lifecycle.lead;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.udckpt.linux.Proc;
import org.udckpt.support.config.Installation;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.Messages;

/**
 * The lead's end of udckpt-guard (guard_main.c), which starts the lead of a job on several hosts again when that is
 * lost, if the job is to be restarted on failure. What the next one must know is kept in memory that both share; it is
 * empty while there is nothing to go on from. Thread-safe.
 */
@SuppressWarnings("restricted") // native code and memory are reached by java.lang.foreign alone: --enable-native-access
public final class LeadGuard {
    /** In the lead's environment: the number of the shared memory's descriptor. */
    private static final String GUARDED = "UDCKPT_GUARD";
    private static final int TEXT = 4096;
    private static final LeadGuard THIS = new LeadGuard();

    private long before;
    private long newest;
    private GuardedRun run;

    /**
     * @param waitMillis from the lead's end until no rank can run any more;
     * @param lostHosts the job is not to be put on
     */
    private record GuardedRun(String name, int limit, long waitMillis, Collection<String> lostHosts) {}

    private LeadGuard() {}

    /**
     * Becomes the guard, whose child runs this very command again, unless this is that child or the job is not to be
     * restarted. Everything has been looked at by then, and nothing has been started.
     */
    public static void enter(Settings settings, Installation installation) {
        if (settings.count(Option.RESTART_ON_FAILURE) == 0 || System.getenv(GUARDED) != null) {
            return;
        }
        try (Arena arena = Arena.ofConfined()) {
            List<MemorySegment> words = new ArrayList<>();
            words.add(arena.allocateFrom(installation.guard().toString()));
            words.add(arena.allocateFrom(Files.readSymbolicLink(Path.of("/proc/self/exe")).toString()));
            // the bytes that the user gave, whatever their encoding
            byte[] line = Proc.bytes("/proc/self/cmdline");
            for (int begin = 0, at = 0; at < line.length; at++) {
                if (line[at] == 0) {
                    words.add(arena.allocateFrom(ValueLayout.JAVA_BYTE,
                            java.util.Arrays.copyOfRange(line, begin, at + 1)));
                    begin = at + 1;
                }
            }
            MemorySegment list = arena.allocate(ValueLayout.ADDRESS, words.size() + 1L);
            for (int i = 0; i < words.size(); i++) {
                list.setAtIndex(ValueLayout.ADDRESS, i, words.get(i));
            }
            execute(words.getFirst(), list);
            Messages.warn(installation.guard() + " cannot be executed: if this process dies, the job has to be "
                    + "restarted by hand");
        } catch (IOException e) {
            Messages.warn("if this process dies, the job has to be restarted by hand: " + e);
        }
    }

    /** execv(3); returns only if that fails. */
    private static void execute(MemorySegment program, MemorySegment words) {
        try {
            int ignored = (int) Linker.nativeLinker()
                    .downcallHandle(Linker.nativeLinker().defaultLookup().findOrThrow("execv"),
                            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS))
                    .invokeExact(program, words);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e); // a C function throws nothing
        }
    }

    /**
     * A job begins here.
     *
     * @param before the newest checkpoint that was there, whoever took it;
     * @param from the one that it begins with, 0: none
     */
    public static void began(long before, long from) {
        synchronized (THIS) {
            THIS.before = LostLead.ofThisProcess().map(LostLead::before).orElse(before);
            THIS.newest = from;
        }
    }

    /** The ranks of one of its incarnations run. */
    public static void running(String name, int limit, long waitMillis, Collection<String> lostHosts) {
        synchronized (THIS) {
            THIS.run = new GuardedRun(name, limit, waitMillis, lostHosts);
            THIS.write();
        }
    }

    /** One of its checkpoints is complete. */
    static void committed(long checkpoint) {
        synchronized (THIS) {
            THIS.newest = Math.max(THIS.newest, checkpoint);
            THIS.write();
        }
    }

    /** The job is over: a successor is not to continue it, however this process ends. */
    public static void over() {
        synchronized (THIS) {
            THIS.run = null;
            THIS.write();
        }
    }

    /** Writes the lines that guard_main.c and {@link LostLead} read. */
    private void write() {
        String descriptor = System.getenv(GUARDED);
        if (descriptor == null) {
            return;
        }
        String text = run == null || newest == 0 ? ""
                : "name " + run.name + "\nwait " + run.waitMillis + "\nlimit " + run.limit + "\nnewest " + newest
                        + "\nbefore " + before
                        + "\nlost " + String.join(",", run.lostHosts) + "\n";
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        ByteBuffer whole = ByteBuffer.allocate(TEXT);
        if (bytes.length < TEXT) { // else too many hosts are lost to be listed, and the job is not continued
            whole.put(bytes);
        }
        try (FileChannel memory = FileChannel.open(Path.of("/proc/self/fd/" + descriptor), StandardOpenOption.WRITE)) {
            // one write(2) of a page in memory: all of it or nothing, also when this process is killed
            memory.write(whole.clear(), 0);
        } catch (IOException e) {
            Messages.warn("if this process dies, the job has to be restarted by hand: " + e);
        }
    }
}
