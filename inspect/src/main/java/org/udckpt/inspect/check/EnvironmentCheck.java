package org.udckpt.inspect.check;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.udckpt.inspect.debug.GdbCommand;
import org.udckpt.launch.DeviceChoice;
import org.udckpt.linux.LinuxConstants;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Syscall;
import org.udckpt.process.restore.lazy.Support;
import org.udckpt.support.config.Installation;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.Durations;
import org.udckpt.support.report.Failure;
import org.udckpt.support.runtime.RuntimeDirectory;

/** Looks at everything of this machine that checkpoints and restarts lean on. */
public final class EnvironmentCheck {
    private static final int CAP_SYS_ADMIN = 21, CAP_SYS_TIME = 25;
    private static final long FREE_MIN = 1L << 30;
    private static final int FILES_MIN = 1024;

    private EnvironmentCheck() {}

    public static List<Finding> look(Settings settings) throws IOException {
        List<Finding> findings = new ArrayList<>();
        findings.add(kernel());
        findings.add(architecture());
        findings.add(namespaces());
        findings.add(ptrace());
        findings.add(lazyRestart());
        findings.add(devices());
        findings.add(CudaCheck.look());
        findings.add(mpi());
        findings.add(debugging());
        findings.add(openFiles());
        findings.add(storage("runtime", RuntimeDirectory.planned(settings)));
        findings.add(storage("images",
                Path.of(settings.text(Option.DIR).isEmpty() ? "." : settings.text(Option.DIR)).toAbsolutePath()));
        findings.add(installation(settings));
        return findings;
    }

    /** clone3 with set_tid is Linux 5.5 (clone(2)), time namespaces 5.6 (time_namespaces(7)). */
    private static Finding kernel() {
        String version = System.getProperty("os.version");
        String[] parts = version.split("[.-]");
        int number = Integer.parseInt(parts[0]) * 1000 + Integer.parseInt(parts[1]);
        return number >= 5006 ? Finding.ok("kernel", version)
                : new Finding("kernel", Finding.State.MISSING, version,
                        "Linux 5.6 or later is needed for time namespaces and clone3 with set_tid");
    }

    private static Finding architecture() {
        String name = System.getProperty("os.arch");
        return name.equals("amd64") ? Finding.ok("processor", "x86-64")
                : new Finding("processor", Finding.State.MISSING, name, "only x86-64 is supported");
    }

    private static Finding namespaces() throws IOException {
        for (String kind : List.of("user", "pid", "mnt", "ipc", "time")) {
            if (!Files.exists(Path.of("/proc/self/ns", kind))) {
                return new Finding("namespaces", Finding.State.MISSING, "the kernel has no " + kind + " namespaces",
                        "restart needs them; use a kernel with CONFIG_NAMESPACES");
            }
        }
        if (RuntimeDirectory.uid() == 0) {
            return asRoot(Long.parseUnsignedLong(Proc.field(Proc.text("/proc/self/status"), "CapEff:"), 16));
        }
        boolean forbidden = setting("user/max_user_namespaces", 1) == 0
                || setting("kernel/unprivileged_userns_clone", 1) == 0;
        return forbidden
                ? new Finding("namespaces", Finding.State.MISSING, "unprivileged user namespaces are switched off",
                        "restart needs them, or root: sysctl kernel.unprivileged_userns_clone=1 "
                                + "user.max_user_namespaces=10000")
                : Finding.ok("namespaces", "user, pid, mnt, ipc, time; unprivileged");
    }

    /** What {@code udckpt-shepherd} needs for the namespaces of a restored job. @param held capabilities(7), as bits */
    static Finding asRoot(long held) {
        List<String> missing = new ArrayList<>();
        for (Map.Entry<String, Integer> needed : Map.of("SYS_ADMIN", CAP_SYS_ADMIN, "SYS_TIME", CAP_SYS_TIME)
                .entrySet()) {
            if ((held >> needed.getValue() & 1) == 0) {
                missing.add(needed.getKey());
            }
        }
        Collections.sort(missing);
        return missing.isEmpty() ? Finding.ok("namespaces", "user, pid, mnt, ipc, time; as root")
                : new Finding("namespaces", Finding.State.MISSING, "root without CAP_" + String.join(", CAP_", missing),
                        "restart needs it; start the container with --cap-add " + String.join(",", missing)
                                + ", or restart outside of it");
    }

    /**
     * Yama (Documentation/admin-guide/LSM/Yama.rst): from 1 on only descendants, from 2 on only with CAP_SYS_PTRACE, 3
     * nobody.
     */
    private static Finding ptrace() throws IOException {
        int value = setting("kernel/yama/ptrace_scope", 0);
        boolean root = RuntimeDirectory.uid() == 0;
        if (value == 3 || value == 2 && !root) {
            return new Finding("ptrace", Finding.State.MISSING, "yama ptrace_scope " + value,
                    "checkpoints need ptrace: sysctl kernel.yama.ptrace_scope=1");
        }
        int self = (int) ProcessHandle.current().pid();
        if (Syscall.call(Syscall.KCMP, self, self, LinuxConstants.KCMP_VM, 0, 0) == -LinuxError.EPERM) {
            return new Finding("ptrace", Finding.State.MISSING, "kcmp(2) is not permitted",
                    "checkpoints need it: start the container with --cap-add SYS_PTRACE, or with another seccomp "
                            + "profile");
        }
        return Finding.ok("ptrace", "yama ptrace_scope " + value + (root ? ", root" : ""));
    }

    /** A number of proc_sys(5). @param without where this kernel has no such setting */
    private static int setting(String name, int without) {
        try {
            return Integer.parseInt(Proc.text("/proc/sys/" + name).strip());
        } catch (LinuxError e) {
            if (e.errno() == LinuxError.ENOENT) {
                return without;
            }
            throw e;
        }
    }

    private static Finding lazyRestart() {
        String refusal = Support.refusal();
        return refusal == null ? Finding.ok("restart", "a restarted job runs while its memory is still being read")
                : new Finding("restart", Finding.State.NOTE,
                        "all memory is read before a restarted job runs: " + refusal,
                        "to start large jobs at once, restart as root, or give udckpt CAP_SYS_PTRACE "
                                + "(capabilities(7)) and access to " + Support.device());
    }

    private static Finding devices() {
        List<String> real = DeviceChoice.realDevices();
        return real.isEmpty() ? Finding.ok("devices", "no RDMA device; jobs use the soft fabric")
                : new Finding("devices", Finding.State.NOTE, String.join(", ", real), "a job uses the first one with "
                        + "an active port, or those named by --device");
    }

    private static Finding mpi() throws IOException {
        for (String folder : System.getenv().getOrDefault("PATH", "").split(":")) {
            Path tool = Path.of(folder, "mpichversion");
            if (Files.isExecutable(tool)) {
                return version(tool);
            }
        }
        return new Finding("MPI", Finding.State.NOTE, "no MPICH in PATH",
                "apt install mpich; programs linked to another MPICH with PMI-1 and UCX work too");
    }

    private static Finding version(Path tool) throws IOException {
        Process process = new ProcessBuilder(tool.toString()).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes());
        try {
            process.waitFor(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        String version = output.lines().filter(line -> line.startsWith("MPICH Version:"))
                .map(line -> line.replaceAll(".*\\s", "")).findFirst().orElse("unknown");
        String device =
                output.lines().filter(line -> line.startsWith("MPICH Device:") || line.startsWith("MPICH device:"))
                        .map(line -> line.replaceAll(".*\\s", "")).findFirst().orElse("unknown");
        return device.contains("ucx") || device.equals("unknown")
                ? Finding.ok("MPI", "MPICH " + version + ", " + device)
                : new Finding("MPI", Finding.State.NOTE, "MPICH " + version + ", device "
                        + device, "only ch4:ucx works with the soft fabric");
    }

    private static Finding debugging() throws IOException {
        if (!GdbCommand.found(GdbCommand.DEFAULT)) {
            return new Finding("debugging", Finding.State.NOTE, "no gdb in PATH",
                    "apt install gdb; 'restart --debug' and 'bisect' need it");
        }
        return Proc.text("/proc/filesystems").contains("\toverlay\n")
                ? Finding.ok("debugging", "gdb, overlayfs")
                : new Finding("debugging", Finding.State.NOTE, "gdb, but no overlayfs", "modprobe overlay; 'bisect' "
                        + "needs it to run jobs again");
    }

    private static Finding openFiles() throws IOException {
        for (String line : Proc.text("/proc/self/limits").lines().toList()) {
            if (line.startsWith("Max open files")) {
                String hard = line.split("\\s+")[4];
                boolean enough = hard.equals("unlimited") || Long.parseLong(hard) >= FILES_MIN;
                return enough ? Finding.ok("limits", "open files " + hard)
                        : new Finding("limits", Finding.State.NOTE, "open files " + hard,
                                "raise 'ulimit -n' to " + FILES_MIN + " for jobs of many ranks");
            }
        }
        throw new IOException("/proc/self/limits has no line 'Max open files'");
    }

    private static Finding storage(String what, Path directory) throws IOException {
        Path existing = directory;
        while (!Files.exists(existing)) {
            existing = existing.getParent();
        }
        long free = existing.toFile().getUsableSpace();
        String found = directory + " (" + fileSystem(existing) + "), " + Durations.bytes(free) + " free";
        if (!Files.isWritable(existing)) {
            return new Finding(what, Finding.State.MISSING, found,
                    existing + " is not writable: choose another directory");
        }
        return free >= FREE_MIN ? Finding.ok(what, found) : new Finding(what, Finding.State.NOTE, found,
                "little free space");
    }

    /** The JDK finds no file store in a chroot whose root is no mount point. */
    private static String fileSystem(Path directory) {
        try {
            return Files.getFileStore(directory).type();
        } catch (IOException e) {
            return "no mount point is visible: a chroot";
        }
    }

    private static Finding installation(Settings settings) {
        try {
            return Finding.ok("udckpt", Installation.find(settings).directory().toString());
        } catch (Failure e) {
            return new Finding("udckpt", Finding.State.MISSING, "native parts not found", e.getMessage());
        }
    }
}
