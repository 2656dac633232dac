package org.udckpt.hosts;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * What joins a host to the bridge: a pair of interfaces, one the host's {@code eth0} and the other beside the bridge.
 * In {@link Trouble} the kernel's netem is at both ends, where there is one (sch_netem); else {@code troubled_wire}
 * stands between the host's pair and another one, whose end is in the bridge then.
 */
final class Cable {
    private static final String NO_NETEM = "qdisc kind is unknown";

    private final String namespace;
    private final Host host;
    private String bridge;
    private boolean isolated;
    private boolean impaired;
    /** Null: frames pass through the kernel alone. */
    private Process wire;

    /** @param namespace where the bridge is */
    Cable(String namespace, Host host, String bridge) {
        this.namespace = namespace;
        this.host = host;
        this.bridge = bridge;
        Ip.run("ip", "-n", host.namespace(), "link", "add", "eth0", "type", "veth", "peer", "name", port(), "netns",
                namespace);
        plugIn();
    }

    /** To another bridge. */
    void plugInto(String other) {
        bridge = other;
        plugIn();
    }

    /** Hosts of which this is true see all others, but not each other. */
    void isolate(boolean apart) {
        isolated = apart;
        plugIn();
    }

    private void plugIn() {
        String plug = wire == null ? port() : "join" + host.number();
        Ip.run("ip", "-n", namespace, "link", "set", plug, "master", bridge, "up");
        Ip.run("ip", "-n", namespace, "link", "set", plug, "type", "bridge_slave", "isolated", isolated ? "on" : "off");
    }

    /** In place of what was wrong before. @param seed of what happens to whom, where the kernel does not draw */
    void trouble(Trouble trouble, long seed) {
        mend();
        if (netem(trouble)) {
            impaired = true;
        } else if (Boolean.getBoolean("udckpt.netem")) { // bench/rxe-lab/guest/netem
            throw new IllegalStateException("this kernel has no netem");
        } else {
            wire(trouble, seed);
        }
    }

    /** False: the kernel has none. */
    private boolean netem(Trouble trouble) {
        try {
            netem(host.namespace(), "eth0", trouble);
        } catch (IllegalStateException e) {
            if (e.getMessage().contains(NO_NETEM)) {
                return false;
            }
            throw e;
        }
        netem(namespace, port(), trouble);
        return true;
    }

    private static void netem(String namespace, String device, Trouble trouble) {
        List<String> words = new ArrayList<>(List.of("tc", "-n", namespace, "qdisc", "replace", "dev", device, "root"));
        words.addAll(trouble.netem());
        Ip.run(words.toArray(String[]::new));
    }

    private void wire(Trouble trouble, long seed) {
        String near = "wire" + host.number(), far = "join" + host.number();
        Ip.run("ip", "-n", namespace, "link", "add", near, "type", "veth", "peer", "name", far);
        Ip.run("ip", "-n", namespace, "link", "set", near, "up");
        Ip.run("ip", "-n", namespace, "link", "set", port(), "nomaster");
        List<String> words = new ArrayList<>(List.of("ip", "netns", "exec", namespace,
                Path.of(System.getProperty("udckpt.native"), "programs", "troubled_wire").toString(), port(), near));
        words.addAll(trouble.wire(seed));
        try {
            wire = new ProcessBuilder(words).redirectError(ProcessBuilder.Redirect.INHERIT).start();
            String said = wire.inputReader(StandardCharsets.UTF_8).readLine();
            if (!"ready".equals(said)) {
                throw new IllegalStateException("troubled_wire says " + said);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        plugIn();
    }

    /** As it was at the beginning. Frames that are still on their way are lost. */
    void mend() {
        if (impaired) {
            Ip.run("tc", "-n", host.namespace(), "qdisc", "delete", "dev", "eth0", "root");
            Ip.run("tc", "-n", namespace, "qdisc", "delete", "dev", port(), "root");
            impaired = false;
        }
        if (wire != null) {
            // else what was seen since was another trouble than the one that was asked for
            boolean passed = wire.isAlive();
            wire.destroyForcibly().onExit().join();
            wire = null;
            Ip.run("ip", "-n", namespace, "link", "delete", "wire" + host.number());
            plugIn();
            if (!passed) {
                throw new IllegalStateException(
                        "the wire of host " + host.number() + " had ended by itself: see standard error");
            }
        }
    }

    private String port() {
        return "port" + host.number();
    }
}
