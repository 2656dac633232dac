package org.udckpt.picture;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.udckpt.linux.Files;
import org.udckpt.linux.Limits;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.User;

/** Of a process and each of its threads: identity, attributes, scheduling, limits, timers, signals. */
final class TaskLines {
    /** Hierarchies that another feature program has made meanwhile (control_groups.c): all processes are in them. */
    private static final Pattern OTHERS_GROUPS = Pattern.compile("\\d+:name=udckpt-[^:]*:/");
    private static final int SCHED_GETATTR = 315, IOPRIO_GET = 252, IOPRIO_WHO_PROCESS = 1;
    /** proc_pid_stat(5), from the third field on. */
    private static final String[] STAT = {"state", "ppid", "pgrp", "session", "tty_nr", "tpgid", "flags", "minflt",
            "cminflt", "majflt", "cmajflt", "utime",
            "stime", "cutime", "cstime", "priority", "nice", "num_threads", "itrealvalue", "starttime", "vsize", "rss",
            "rsslim", "startcode", "endcode",
            "startstack", "kstkesp", "kstkeip", "signal", "blocked", "sigignore", "sigcatch", "wchan", "nswap",
            "cnswap", "exit_signal", "processor",
            "rt_priority", "policy", "delayacct_blkio_ticks", "guest_time", "cguest_time", "start_data", "end_data",
            "start_brk", "arg_start", "arg_end",
            "env_start", "env_end", "exit_code"};
    private static final Set<String> PIDS = Set.of("ppid", "pgrp", "session", "tpgid");
    /** One line each, or as many as there are. */
    private static final List<String> PROCESS_FILES =
            List.of("oom_score_adj", "coredump_filter", "personality", "limits", "loginuid", "sessionid",
                    "attr/current", "cgroup", "setgroups", "uid_map", "gid_map", "timens_offsets", "mountinfo",
                    "autogroup", "cpuset", "timers");
    private static final List<String> TEXTS = List.of("cmdline", "environ");
    private static final List<String> THREAD_FILES = List.of("comm");
    /** timerslack_ns needs CAP_SYS_NICE, which an ordinary user has in a restored job's namespace only. */
    private static final List<String> ROOTS_FILES = List.of("comm", "timerslack_ns");
    private static final List<String> LINKS =
            List.of("exe", "cwd", "root", "ns/cgroup", "ns/ipc", "ns/mnt", "ns/net", "ns/pid", "ns/pid_for_children",
                    "ns/time", "ns/time_for_children", "ns/user", "ns/uts");

    private TaskLines() {}

    static void add(Picture picture, int pid) {
        String who = picture.pids().name(pid);
        if (Pids.zombie(pid)) {
            status(picture, "/proc/" + pid, who + " zombie status");
            stat(picture, "/proc/" + pid, who + " zombie stat");
            return;
        }
        int task = Proc.living(pid);
        PROCESS_FILES.forEach(file -> lines(picture, "/proc/" + task + "/" + file, who + " " + file));
        TEXTS.forEach(file -> {
            for (String word : Proc.text("/proc/" + task + "/" + file).split("\0")) {
                picture.add(who + " " + file, word);
            }
        });
        LINKS.forEach(file -> {
            String target = Files.readLink("/proc/" + task + "/" + file);
            picture.add(who + " link " + file, target == null ? "none" : target.replaceAll("\\[\\d+\\]", ""));
        });
        auxiliary(picture, task, who);
        children(picture, pid, who);
        for (int tid : Proc.threads(pid)) {
            if (Proc.isWorker(pid, tid)) {
                continue; // of an io_uring: made anew
            }
            thread(picture, pid, tid, who + "/" + picture.pids().name(tid));
        }
    }

    private static void children(Picture picture, int pid, String who) {
        for (int child : Pids.children(pid)) {
            picture.add(who + " children", picture.pids().name(child));
        }
    }

    private static void thread(Picture picture, int pid, int tid, String who) {
        String directory = "/proc/" + pid + "/task/" + tid;
        status(picture, directory, who + " status");
        stat(picture, directory, who + " stat");
        (User.id() == 0 ? ROOTS_FILES : THREAD_FILES).forEach(file -> lines(picture,
                (file.equals("comm") ? directory : "/proc/" + tid) + "/" + file, who + " " + file));
        scheduling(picture, tid, who);
        long[] limits = Limits.of(tid);
        for (int i = 0; i < limits.length; i++) {
            picture.add(who + " prlimit " + i / 2 + (i % 2 == 0 ? " soft" : " hard"), Long.toString(limits[i]));
        }
    }

    private static void status(Picture picture, String directory, String about) {
        for (String line : Proc.text(directory + "/status").split("\n")) {
            int colon = line.indexOf(':');
            String name = line.substring(0, colon), said = line.substring(colon + 1).strip();
            String shown = switch (name) {
                // NStgid and NSpid say it, and a tracer has made it stop
                case "Pid", "TracerPid", "Tgid", "Ngid" -> null;
                case "PPid" -> picture.pids().name(Integer.parseInt(said));
                case "NStgid", "NSpid", "NSpgid", "NSsid" -> Integer.toString(Pids.last(said));
                case "SigPnd", "ShdPnd" -> signals(Long.parseUnsignedLong(said, 16));
                default -> said;
            };
            if (shown != null) {
                picture.add(about + " " + name, shown);
            }
        }
    }

    /** Of a mask: "1 14 ". */
    private static String signals(long mask) {
        return IntStream.rangeClosed(1, Long.SIZE).filter(number -> (mask >>> number - 1 & 1) != 0)
                .mapToObj(number -> number + " ").collect(Collectors.joining());
    }

    private static void stat(Picture picture, String directory, String about) {
        String text = Proc.text(directory + "/stat");
        String[] fields = text.substring(text.lastIndexOf(')') + 2).strip().split(" ");
        for (int i = 0; i < fields.length; i++) {
            String name = i < STAT.length ? STAT[i] : "field " + (i + 3);
            boolean number = PIDS.contains(name) && !fields[i].startsWith("-");
            picture.add(about + " " + name, number ? picture.pids().name(Integer.parseInt(fields[i])) : fields[i]);
        }
    }

    /** A file that does not exist, or is not readable by this user, has the same error in both pictures. */
    private static void lines(Picture picture, String file, String about) {
        String text;
        try {
            text = Proc.text(file);
        } catch (LinuxError none) {
            picture.add(about, LinuxError.name(none.errno()));
            return;
        }
        for (String line : Pattern.compile("(?<=/[pt]id\\.)\\d+").matcher(text)
                .replaceAll(who -> picture.pids().name(Integer.parseInt(who.group()))).split("\n")) {
            if (about.endsWith("cgroup") && OTHERS_GROUPS.matcher(line).matches()) {
                continue;
            }
            String[] words = line.split("[ :]", 2);
            boolean table = about.endsWith("limits") || about.endsWith("mountinfo") || about.endsWith("cgroup")
                    || about.endsWith("_map");
            picture.add(table || words.length < 2 ? about : about + " " + words[0],
                    table || words.length < 2 ? line : words[1]);
        }
    }

    private static void scheduling(Picture picture, int tid, String who) {
        MemorySegment data = Scratch.data();
        LinuxError.check(Syscall.call(SCHED_GETATTR, tid, data.address(), 56, 0), "sched_getattr of " + tid);
        picture.add(who + " sched_getattr",
                "policy %d, flags 0x%x, nice %d, priority %d, runtime %d, deadline %d, period %d".formatted(
                        data.get(JAVA_INT, 4),
                        data.get(JAVA_LONG, 8), data.get(JAVA_INT, 16), data.get(JAVA_INT, 20), data.get(JAVA_LONG, 24),
                        data.get(JAVA_LONG, 32), data.get(JAVA_LONG, 40)));
        picture.add(who + " sched_getattr util", data.get(JAVA_INT, 48) + " " + data.get(JAVA_INT, 52));
        picture.add(who + " ioprio_get", Long.toString(Syscall.call(IOPRIO_GET, IOPRIO_WHO_PROCESS, tid)));
        long length = LinuxError.check(Syscall.call(Syscall.SCHED_GETAFFINITY, tid, 1024, data.address()),
                "sched_getaffinity of " + tid);
        byte[] mask = data.asSlice(0, length).toArray(JAVA_BYTE);
        picture.add(who + " sched_getaffinity", HexFormat.of().formatHex(mask).replaceAll("(00)+$", ""));
        long robust = Syscall.call(Syscall.GET_ROBUST_LIST, tid, data.address(), data.address() + 8);
        picture.add(who + " get_robust_list",
                robust == 0 ? Long.toHexString(data.get(JAVA_LONG, 0)) + " " + data.get(JAVA_LONG, 8)
                        : LinuxError.name((int) -robust));
    }

    /** Pairs of getauxval(3). */
    private static void auxiliary(Picture picture, int pid, String who) {
        MemorySegment bytes = MemorySegment.ofArray(Proc.bytes("/proc/" + pid + "/auxv"));
        for (long at = 0; at + 16 <= bytes.byteSize(); at += 16) {
            picture.add(who + " auxv " + bytes.get(JAVA_LONG_UNALIGNED, at),
                    Long.toHexString(bytes.get(JAVA_LONG_UNALIGNED, at + 8)));
        }
    }
}
