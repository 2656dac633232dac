package org.udckpt.cluster;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * What hosts are that somebody names without saying how agents come to them: machines, or mere names for simulated
 * ones.
 */
public final class HostNames {
    private static final int AT_ONCE = 16;
    private static final int TIMEOUT_SECONDS = 3; // as far as a name server that does not answer is worth it

    private HostNames() {}

    /**
     * What they are.
     *
     * @param others  those that are names or addresses of other machines than this
     * @param nobodys those that are no machine's
     */
    public record Kinds(List<String> others, List<String> nobodys) {}

    /** Looks them all up. */
    public static Kinds kinds(List<String> names) {
        if (names.stream().anyMatch(name -> name.matches("\\d+"))) {
            return new Kinds(List.of(), names); // read as addresses these would be 0.0.0.N
        }
        ExecutorService lookups =
                Executors.newFixedThreadPool(AT_ONCE, Thread.ofPlatform().daemon().name("host names").factory());
        try {
            List<CompletableFuture<InetAddress[]>> found =
                    names.stream().map(name -> CompletableFuture.supplyAsync(() -> addresses(name), lookups)
                            .completeOnTimeout(new InetAddress[0], TIMEOUT_SECONDS, TimeUnit.SECONDS)).toList();
            List<String> others = new ArrayList<>();
            List<String> nobodys = new ArrayList<>();
            for (int i = 0; i < names.size(); i++) {
                InetAddress[] addresses = found.get(i).join();
                if (addresses.length == 0) {
                    nobodys.add(names.get(i));
                } else if (!isHere(addresses)) {
                    others.add(names.get(i));
                }
            }
            return new Kinds(others, nobodys);
        } finally {
            lookups.shutdownNow(); // one that hangs is not waited for
        }
    }

    /** None: it is nobody's name. */
    private static InetAddress[] addresses(String name) {
        try {
            return InetAddress.getAllByName(name);
        } catch (UnknownHostException e) {
            return new InetAddress[0];
        }
    }

    private static boolean isHere(InetAddress[] addresses) {
        for (InetAddress address : addresses) {
            try {
                if (address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null) {
                    return true;
                }
            } catch (SocketException e) {
                return true; // who cannot look at his own interfaces goes nowhere
            }
        }
        return false;
    }
}
