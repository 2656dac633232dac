package org.udckpt.process.kinds.cgroup;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.udckpt.linux.Files;

/**
 * Which files of a control group are settings, what of their contents is set, and what has to be written for that
 * (Documentation/admin-guide/cgroup-v1 and cgroup-v2.rst of Linux). The others count, or are commands.
 */
final class GroupSettings {
    /** Set by other files, or by the kernel. */
    private static final Set<String> NO_SETTINGS = Set.of("tasks", "cgroup.procs", "cgroup.threads", "cgroup.kill",
            "cgroup.event_control", "cgroup.freeze", "devices.allow", "devices.deny", "freezer.state",
            "memory.force_empty", "memory.reclaim", "memory.oom.stat", "cpu.weight.nice", "release_agent");
    /** In the names of files that count. */
    private static final List<String> COUNTERS =
            List.of("usage", "failcnt", ".stat", "numa_stat", ".events", "pressure",
                    ".peak", ".current", "effective", "reset_stats", "cpuacct.", "sane_behavior", "io_serviced",
                    "io_service_bytes", "slabinfo", "capacity", "_freezing", "cgroup.controllers");
    /** What is not a counter, though its name has such a word. */
    private static final Set<String> SWITCHES = Set.of("cgroup.pressure", "cpuset.memory_pressure_enabled");
    private static final String DEVICES = "devices.list", KILLER = "memory.oom_control", TYPE = "cgroup.type",
            CONTROLLERS = "cgroup.subtree_control", PRIORITIES = "net_prio.ifpriomap", ALL_DEVICES = "a *:* rwm";

    private GroupSettings() {}

    /** Whether a restart sets it again. */
    static boolean isSetting(String file, Files.Stat stat) {
        boolean always = file.equals(DEVICES) || SWITCHES.contains(file);
        boolean settable = (stat.mode() & 0200) != 0 && (stat.mode() & 0400) != 0;
        return always || settable && mayBeSet(file);
    }

    /** Whether a file of this name may be written to at a restart: a command is none that an image gives. */
    static boolean mayBeSet(String file) {
        return file.equals(DEVICES) || SWITCHES.contains(file)
                || !NO_SETTINGS.contains(file) && COUNTERS.stream().noneMatch(file::contains);
    }

    /** What of its content is set, line by line. */
    static List<String> lines(String file, String content) {
        Stream<String> lines = content.lines().map(String::strip).filter(line -> !line.isEmpty());
        return switch (file) {
            case KILLER -> lines.filter(line -> line.startsWith("oom_kill_disable ")).toList();
            case TYPE -> lines.filter("threaded"::equals).toList();
            case CONTROLLERS -> lines.flatMap(line -> Arrays.stream(line.split(" "))).toList();
            case PRIORITIES -> lines.filter(line -> !line.endsWith(" 0")).toList(); // a new group's
            default -> lines.toList();
        };
    }

    /**
     * What a group has to be before processes or other groups can be in it: it is set before they are, all else when
     * they have come so far that no limit hinders them.
     */
    static boolean isFirst(String file) {
        return file.startsWith("cpuset.") || file.equals(TYPE) || file.equals(DEVICES) || file.equals(CONTROLLERS)
                || file.equals("cgroup.clone_children");
    }

    /** A text to be written to a file of the same group. */
    record Order(String file, String text) {}

    /** What changes {@code now} into {@code wanted}; empty: nothing has to. */
    static List<Order> orders(String file, List<String> wanted, List<String> now) {
        if (file.equals(DEVICES)) {
            return wanted.equals(now) ? List.of() : devices(wanted);
        }
        List<String> missing = wanted.stream().filter(line -> !now.contains(line)).toList();
        return missing.stream().map(line -> new Order(file, switch (file) {
            case KILLER -> line.substring(line.indexOf(' ') + 1);
            case CONTROLLERS -> "+" + line;
            default -> line;
        })).toList();
    }

    private static List<Order> devices(List<String> wanted) {
        List<Order> orders = new ArrayList<>();
        boolean all = wanted.equals(List.of(ALL_DEVICES));
        orders.add(new Order(all ? "devices.allow" : "devices.deny", "a"));
        if (!all) {
            wanted.forEach(line -> orders.add(new Order("devices.allow", line)));
        }
        return orders;
    }
}
