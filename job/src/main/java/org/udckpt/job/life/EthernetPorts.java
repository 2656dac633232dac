package org.udckpt.job.life;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.udckpt.job.report.Failure;

/** Ports of verbs devices that are Ethernet's (RoCE): {@code /sys/class/infiniband/DEVICE/ports/N/link_layer}. */
final class EthernetPorts {
    private EthernetPorts() {}

    /** @param devices names, with + between them */
    static boolean any(String devices) {
        for (String device : devices.split("\\+")) {
            Path ports = Path.of("/sys/class/infiniband", device, "ports");
            if (!Files.isDirectory(ports)) {
                continue;
            }
            try (DirectoryStream<Path> all = Files.newDirectoryStream(ports)) {
                for (Path port : all) {
                    if (Files.readString(port.resolve("link_layer")).strip().equals("Ethernet")) {
                        return true;
                    }
                }
            } catch (IOException e) {
                throw Failure.of("looking at the ports of device " + device, e);
            }
        }
        return false;
    }
}
