package org.udckpt.process.kinds.cgroup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.udckpt.linux.Files;

/** What of a control group's files is set again, and by which words. */
class GroupSettingsTest {
    @ParameterizedTest
    @CsvSource({"memory.limit_in_bytes, 0644, true", "memory.max, 0644, true", "pids.max, 0777, true",
            "memory.usage_in_bytes, 0777, false", "memory.failcnt, 0644, false", "cpu.pressure, 0644, false",
            "cgroup.pressure, 0644, true", "cpuset.memory_pressure, 0444, false", "memory.peak, 0644, false",
            "cpuset.memory_pressure_enabled, 0644, true", "tasks, 0644, false", "cgroup.procs, 0777, false",
            "devices.list, 0444, true", "devices.allow, 0200, false", "net_cls.classid, 0644, true",
            "memory.force_empty, 0200, false", "cpu.weight.nice, 0644, false", "memory.stat, 0444, false"})
    void settings(String file, String mode, boolean set) {
        assertEquals(set, GroupSettings.isSetting(file,
                new Files.Stat(0, 0, 1, Files.Stat.REGULAR | Integer.parseInt(mode, 8), 0, 0, 0, 0, 0, 0)));
    }

    private static List<String> orders(String file, String wanted, String now) {
        return GroupSettings.orders(file, GroupSettings.lines(file, wanted), GroupSettings.lines(file, now)).stream()
                .map(order -> order.file() + "=" + order.text()).toList();
    }

    @Test
    void onlyWhatDiffersIsWritten() {
        assertEquals(List.of(), orders("pids.max", "100\n", "100\n"));
        assertEquals(List.of("pids.max=100"), orders("pids.max", "100\n", "max\n"));
        assertEquals(List.of("io.max=8:16 rbps=1 wbps=max"),
                orders("io.max", "8:0 rbps=2 wbps=3\n8:16 rbps=1 wbps=max\n", "8:0 rbps=2 wbps=3\n"));
        assertEquals(List.of("net_prio.ifpriomap=eth0 7"),
                orders("net_prio.ifpriomap", "lo 0\neth0 7\n", "eth0 0\nlo 0\n"));
        assertEquals(List.of("cgroup.subtree_control=+cpuset"),
                orders("cgroup.subtree_control", "cpuset memory\n", "memory\n"));
        assertEquals(List.of("cgroup.type=threaded"), orders("cgroup.type", "threaded\n", "domain\n"));
        assertEquals(List.of(), orders("cgroup.type", "domain threaded\n", "domain\n"));
        assertEquals(List.of("memory.oom_control=1"),
                orders("memory.oom_control", "oom_kill_disable 1\nunder_oom 0\n", "oom_kill_disable 0\noom_kill 3\n"));
    }

    @Test
    void devicesAreSetAsAWhole() {
        assertEquals(List.of(), orders("devices.list", "a *:* rwm\n", "a *:* rwm\n"));
        assertEquals(List.of("devices.deny=a", "devices.allow=c 1:3 rwm", "devices.allow=c 5:0 r"),
                orders("devices.list", "c 1:3 rwm\nc 5:0 r\n", "a *:* rwm\n"));
        assertEquals(List.of("devices.allow=a"), orders("devices.list", "a *:* rwm\n", "c 1:3 rwm\n"));
    }

    /** What would be run as root, or ends or moves processes, no image can have written. */
    @Test
    void commandsAreNoSettings() {
        for (String command : List.of("release_agent", "cgroup.procs", "tasks", "cgroup.kill", "devices.allow")) {
            assertFalse(GroupSettings.mayBeSet(command), command);
        }
        for (String setting : List.of("notify_on_release", "memory.limit_in_bytes", "cpuset.cpus", "devices.list")) {
            assertTrue(GroupSettings.mayBeSet(setting), setting);
        }
    }
}
