package org.udckpt.agent;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.udckpt.address.AddressAuthority;
import org.udckpt.address.AddressMap;
import org.udckpt.address.DatagramKey;

/**
 * What a job finds around it.
 *
 * @param runtime name of its runtime directory
 * @param directory the working directory of its first processes, absolute
 * @param environment the user's
 * @param terminal whether the user's signals come to this process
 * @param machines of a job of several agents, where each host of its layout is in this incarnation: equal names are one
 *     machine; else none
 * @param authority who knows the addresses, given those of the job's own processes
 * @param key by which the processes know each other's datagrams in this incarnation: the same at all agents
 */
public record JobContext(String runtime, Path directory, Map<String, String> environment, boolean terminal,
        List<String> machines, Function<AddressMap, AddressAuthority> authority,
        DatagramKey key) {
    /** The context of a job that has one agent, in its user's terminal. */
    public static JobContext alone(String job) {
        return new JobContext(job, Path.of("").toAbsolutePath(), System.getenv(), true, List.of(), map -> map,
                DatagramKey.random());
    }
}
