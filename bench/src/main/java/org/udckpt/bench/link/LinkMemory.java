package org.udckpt.bench.link;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.udckpt.linux.Proc;
import org.udckpt.transport.CredentialFile;
import org.udckpt.transport.Inbox;
import org.udckpt.transport.JobCredential;
import org.udckpt.transport.TransportEndpoint;
import org.udckpt.transport.TransportLimits;

/**
 * What a lead's memory is for each agent that is connected to it, as all are at a job's start: one JVM, which is
 * answered by agents in another. Each is connected both ways. Run by {@code bench/links memory}.
 */
public final class LinkMemory {
    private static final int STEPS = 4;
    /** The tree's heartbeat: no connection is idle for three of them while it is measured. */
    private static final Duration HEARTBEAT = Duration.ofSeconds(10);
    private static final String LEAD = "127.88.0.1", AGENTS = "127.88.0.2";

    private LinkMemory() {}

    /** Arguments: how many agents; or {@code agents PORT MOST}: the other JVM, which the measuring one starts. */
    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 1) {
            measure(Integer.parseInt(arguments[0]));
        } else {
            agents(Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2]));
        }
    }

    private static InetSocketAddress at(String address, int port) throws IOException {
        return new InetSocketAddress(InetAddress.getByName(address), port);
    }

    private static Inbox heard(Semaphore heard) {
        return new Inbox() {
            @Override
            public void message(int from, byte[] message) {
                heard.release();
            }

            @Override
            public void table(int from, byte[] subject, VectorSchemaRoot table) {
                throw new IllegalStateException("nobody sends tables");
            }
        };
    }

    private static void agents(int leadPort, int most) throws Exception {
        List<TransportEndpoint> agents = new ArrayList<>();
        JobCredential credential = CredentialFile.read(System.in);
        try {
            BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                Semaphore heard = new Semaphore(0);
                TransportEndpoint agent = new TransportEndpoint(agents.size() + 1, most + 1, at(AGENTS, 0), credential,
                        heard(heard), TransportLimits.usual().ofTree(HEARTBEAT.toNanos()));
                agents.add(agent);
                System.out.println(agent.address().getPort());
                agent.reach(0, at(LEAD, leadPort));
                agent.send(0, new byte[100]);
                heard.acquire();
            }
        } finally {
            for (TransportEndpoint agent : agents) {
                agent.close();
            }
        }
    }

    private static void measure(int most) throws Exception {
        JobCredential credential = JobCredential.generate();
        Semaphore heard = new Semaphore(0);
        try (TransportEndpoint lead = new TransportEndpoint(0, most + 1, at(LEAD, 0), credential, heard(heard),
                TransportLimits.usual().ofTree(HEARTBEAT.toNanos()))) {
            List<String> command = new ArrayList<>(List.of(System.getProperty("java.home") + "/bin/java"));
            command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
            command.addAll(List.of("-cp", System.getProperty("java.class.path"), LinkMemory.class.getName(), "agents",
                    Integer.toString(lead.address().getPort()), Integer.toString(most)));
            Process other = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
            try {
                CredentialFile.write(other.getOutputStream(), credential);
                BufferedReader lines = other.inputReader(StandardCharsets.US_ASCII);
                long heapBefore = 0, residentBefore = 0;
                int peers = 0;
                for (int step = 1; step <= STEPS; step++) {
                    int before = peers;
                    for (; peers < step * most / STEPS; peers++) {
                        other.getOutputStream().write('\n');
                        other.getOutputStream().flush();
                        lead.reach(peers + 1, at(AGENTS, Integer.parseInt(lines.readLine())));
                        heard.acquire();
                        lead.send(peers + 1, new byte[100]);
                    }
                    long heap = heap(), resident = resident();
                    System.out.printf("a lead with %d agents: heap %.1f MiB, resident %.1f MiB%s%n", peers,
                            heap / 1048576.0, resident / 1048576.0, heapBefore == 0 ? ""
                                    : "; each further one %.1f KiB of heap, %.1f KiB resident".formatted(
                                            (heap - heapBefore) / 1024.0 / (peers - before),
                                            (resident - residentBefore) / 1024.0 / (peers - before)));
                    heapBefore = heap;
                    residentBefore = resident;
                }
                Thread.sleep(HEARTBEAT.multipliedBy(4));
                System.out.printf(
                        "a lead with %d agents that have had nothing to say for four beats: heap %.1f MiB, resident "
                                + "%.1f MiB%n",
                        peers, heap() / 1048576.0, resident() / 1048576.0);
            } finally {
                other.destroy();
                other.waitFor();
            }
        }
    }

    private static long heap() throws InterruptedException {
        for (int i = 0; i < 3; i++) {
            System.gc();
            Thread.sleep(300);
        }
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    private static long resident() throws IOException {
        for (String line : Proc.text("/proc/self/status").lines().toList()) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("\\D", "")) << 10;
            }
        }
        throw new IOException("no VmRSS");
    }
}
