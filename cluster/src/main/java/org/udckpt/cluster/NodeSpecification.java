package org.udckpt.cluster;

import com.fasterxml.jackson.annotation.JsonIgnore;
import java.net.InetSocketAddress;
import java.util.EnumMap;
import java.util.Map;
import org.udckpt.coordination.tree.Timing;
import org.udckpt.coordination.tree.Tree;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;

/**
 * What the lead tells an agent on its standard input: all that it must know before it can say its first word.
 *
 * @param job      what is to run
 * @param incarnation     random: nothing of another incarnation of the job counts
 * @param lead     where the lead listens
 * @param timing   of the tree
 * @param timeout how long the agent waits for the lead's answer, in nanoseconds
 * @param given    the settings that the lead was given, by their keys
 */
public record NodeSpecification(NodeJob job, int incarnation, Address lead, Timing timing, long timeout,
        Map<String, Setting> given) {
    /** @param host an IP address. @param port from 1 */
    public record Address(String host, int port) {
        public Address {
            if (host == null || !host.matches("[0-9a-fA-F:.]+(%[A-Za-z0-9._-]+)?") || port < 1 || port > 65_535) {
                throw new IllegalArgumentException("'" + host + "' port " + port + " is not an address");
            }
        }

        /** Whether all agents are on the lead's own machine. */
        @JsonIgnore
        public boolean isLoopback() {
            return socket().getAddress().isLoopbackAddress();
        }

        static Address of(InetSocketAddress address) {
            return new Address(address.getAddress().getHostAddress(), address.getPort());
        }

        InetSocketAddress socket() {
            return new InetSocketAddress(host, port); // of digits: nobody is asked
        }
    }

    /** A {@link Settings.Value}. */
    public record Setting(String text, String origin) {}

    public NodeSpecification {
        if (job == null || lead == null || timing == null || timeout <= 0) {
            throw new IllegalArgumentException("a specification without job, lead, timing or timeout");
        }
        given = Map.copyOf(given);
        given.keySet().forEach(NodeSpecification::option);
    }

    Tree tree() {
        return new Tree(job.nodes(), job.fanOut());
    }

    static Map<String, Setting> given(Settings settings) {
        Map<String, Setting> given = new java.util.TreeMap<>();
        settings.given().forEach((option, value) -> given.put(option.key(), new Setting(value.text(), value.origin())));
        return given;
    }

    /** This host's settings, with what the lead was given. */
    Settings over(Settings own) {
        Map<Option, Settings.Value> values = new EnumMap<>(Option.class);
        given.forEach((key, setting) -> values.put(option(key), new Settings.Value(setting.text(), setting.origin())));
        return own.with(values);
    }

    private static Option option(String key) {
        for (Option option : Option.values()) {
            if (option.key().equals(key)) {
                return option;
            }
        }
        throw new IllegalArgumentException("unknown setting '" + key + "'");
    }
}
