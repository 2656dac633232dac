package org.udckpt.job.nodes;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** What hosts are that somebody names without saying how agents come to them: machines, or mere names for simulated ones. */
public final class HostNames {
    private static final int AT_ONCE = 16;
    private static final int PATIENCE_SECONDS = 3; // as far as a name server that does not answer is worth it

    private HostNames() {}

    /** Whether each is a machine's name or address, and at least one is another machine than this. */
    public static boolean areOfOthers(List<String> names) {
        if (names.stream().anyMatch(name -> name.matches("\\d+"))) {
            return false; // read as addresses these would be 0.0.0.N
        }
        ExecutorService lookups = Executors.newFixedThreadPool(AT_ONCE, Thread.ofPlatform().daemon().name("host names").factory());
        try {
            List<CompletableFuture<InetAddress[]>> found = names.stream().map(name -> CompletableFuture.supplyAsync(() -> addresses(name), lookups)
                    .completeOnTimeout(new InetAddress[0], PATIENCE_SECONDS, TimeUnit.SECONDS)).toList();
            return found.stream().allMatch(each -> each.join().length > 0) && found.stream().anyMatch(each -> !isHere(each.join()));
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
