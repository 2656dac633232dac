package org.udckpt.job.launch;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.udckpt.job.config.Option;
import org.udckpt.job.config.Settings;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;

/**
 * Which verbs devices a job gets.
 *
 * @param names of the devices, one at least; the hosts take them in turn
 */
public record DeviceChoice(List<String> names) {
    /** The soft fabric's only device. */
    public static final String SOFT = "soft0";

    private static final Path SYSFS = Path.of("/sys/class/infiniband");

    /**
     * What the setting {@code device} comes to on this machine: {@code soft}; {@code auto}, the first real device with an
     * active port, or the soft fabric where there is none; or names of real devices with commas between them.
     */
    public static DeviceChoice resolve(Settings settings) {
        String wanted = settings.text(Option.DEVICE);
        return switch (wanted) {
            case "soft" -> new DeviceChoice(List.of(SOFT));
            case "auto" -> new DeviceChoice(List.of(realDevices().stream().filter(DeviceChoice::isActive).findFirst().orElse(SOFT)));
            default -> named(wanted);
        };
    }

    private static DeviceChoice named(String wanted) {
        List<String> real = realDevices();
        List<String> names = List.of(wanted.split(",", -1));
        for (String name : names) {
            if (!real.contains(name)) {
                throw new Failure(ExitCode.UNSUPPORTED, "no verbs device named '" + name + "' on this machine; there "
                        + (real.isEmpty() ? "is none" : "are " + String.join(", ", real)) + "; use --device soft");
            }
            if (!isActive(name)) {
                throw new Failure(ExitCode.UNSUPPORTED, "the verbs device " + name + " has no active port; bring its link up, or use another device");
            }
        }
        return new DeviceChoice(names);
    }

    /** Whether the jobs' datagrams travel over the soft fabric, not over a real device. */
    public boolean soft() {
        return names.equals(List.of(SOFT));
    }

    /** The device of the host with this index. */
    public String ofHost(int host) {
        return names.get(host % names.size());
    }

    /** Names of the machine's RDMA devices. */
    public static List<String> realDevices() {
        return entries(SYSFS);
    }

    /** Whether one of the device's ports is active: its file {@code state} reads "4: ACTIVE" (sysfs-class-infiniband). */
    private static boolean isActive(String name) {
        Path ports = SYSFS.resolve(name).resolve("ports");
        return entries(ports).stream().anyMatch(port -> {
            try {
                return Files.readString(ports.resolve(port).resolve("state")).startsWith("4:");
            } catch (IOException e) {
                throw Failure.of("reading the state of port " + port + " of " + name, e);
            }
        });
    }

    private static List<String> entries(Path folder) {
        List<String> names = new ArrayList<>();
        if (Files.isDirectory(folder)) {
            try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
                entries.forEach(entry -> names.add(entry.getFileName().toString()));
            } catch (IOException e) {
                throw Failure.of("listing " + folder, e);
            }
        }
        names.sort(null);
        return names;
    }
}
