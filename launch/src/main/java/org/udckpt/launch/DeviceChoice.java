package org.udckpt.launch;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.Proc;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/**
 * Which verbs devices a job gets.
 *
 * @param names of the devices, one at least, or of several for one host with + between them; the hosts take them in
 *     turn
 */
public record DeviceChoice(List<String> names) {
    /** The soft fabric's only device. */
    public static final String SOFT = "soft0";

    /** As REBUILD carries them; and the ports of a host have so many numbers (HostAddresses). */
    private static final int MOST_CHARACTERS = 63;
    static final int MOST_DEVICES = 4;
    private static final Path SYSFS = Path.of("/sys/class/infiniband");

    /** The setting that chooses for itself. */
    public static final String AUTO = "auto";

    /** As {@link #read}, where all of the job's hosts are on this machine: the devices are there and can be used. */
    public static DeviceChoice resolve(Settings settings) {
        DeviceChoice choice = read(settings);
        for (int host = 0; host < choice.names.size(); host++) {
            choice.requireHere(host);
        }
        return choice;
    }

    /**
     * That the devices of the host with this index are on this machine, and can be used.
     *
     * @throws Failure naming the one that is not
     */
    public DeviceChoice requireHere(int host) {
        if (!soft()) {
            List<String> real = realDevices();
            ofHost(ofHost(host)).forEach(name -> requireActive(name, real));
        }
        return this;
    }

    /**
     * What the setting {@code device} comes to: {@code soft}; {@code auto}, this machine's first real device with an
     * active port, or the soft fabric where there is none; or names of real devices with commas between hosts, and +
     * between the devices of one host.
     */
    public static DeviceChoice read(Settings settings) {
        String wanted = settings.text(Option.DEVICE);
        return switch (wanted) {
            case "soft" -> new DeviceChoice(List.of(SOFT));
            case AUTO -> new DeviceChoice(
                    List.of(realDevices().stream().filter(DeviceChoice::isActive).findFirst().orElse(SOFT)));
            default -> named(wanted);
        };
    }

    private static DeviceChoice named(String wanted) {
        List<String> hosts = List.of(wanted.split(",", -1));
        Map<String, String> hostOf = new HashMap<>();
        for (String host : hosts) {
            List<String> names = ofHost(host);
            if (host.length() > MOST_CHARACTERS || names.size() > MOST_DEVICES) {
                throw new Failure(ExitCode.USAGE, "--device " + host + " exceeds the limits of a host: at most "
                        + MOST_DEVICES
                        + " devices, with names of at most " + MOST_CHARACTERS + " characters in total");
            }
            for (String name : names) {
                String other = hostOf.put(name, host);
                if (other != null && (!other.equals(host) || names.indexOf(name) != names.lastIndexOf(name))) {
                    throw new Failure(ExitCode.USAGE, "--device " + wanted + " names " + name
                            + " twice: two hosts may share all of their devices or none");
                }
            }
        }
        return new DeviceChoice(hosts);
    }

    /** The devices in one host's part of a choice. */
    static List<String> ofHost(String host) {
        return List.of(host.split("\\+", -1));
    }

    private static void requireActive(String name, List<String> real) {
        if (!real.contains(name)) {
            throw new Failure(ExitCode.UNSUPPORTED, "no verbs device named '" + name + "' on this machine; there "
                    + (real.isEmpty() ? "is none" : "are " + String.join(", ", real)) + "; use --device soft");
        }
        if (!isActive(name)) {
            throw new Failure(ExitCode.UNSUPPORTED,
                    "the verbs device " + name + " has no active port; bring its link up, or use another device");
        }
    }

    /** Whether the jobs' datagrams travel over the soft fabric, not over a real device. */
    public boolean soft() {
        return names.equals(List.of(SOFT));
    }

    /** The device of the host with this index, or its devices with + between them. */
    public String ofHost(int host) {
        return names.get(host % names.size());
    }

    /** Names of the machine's RDMA devices. */
    public static List<String> realDevices() {
        return entries(SYSFS);
    }

    /**
     * Whether one of the device's ports is active: its file {@code state} reads "4: ACTIVE" (sysfs-class-infiniband).
     */
    private static boolean isActive(String name) {
        Path ports = SYSFS.resolve(name).resolve("ports");
        return entries(ports).stream().anyMatch(
                port -> Proc.text(ports.resolve(port).resolve("state").toString()).startsWith("4:"));
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
