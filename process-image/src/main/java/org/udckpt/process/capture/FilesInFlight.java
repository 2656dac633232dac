package org.udckpt.process.capture;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.Files;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.kinds.base.StoppedProcess;

/**
 * Descriptors in flight in unix sockets of the job: a look at a queue (MSG_PEEK) opens them in this process, and they
 * are captured as if the job's process had them. Close it when all have been read.
 */
final class FilesInFlight implements AutoCloseable {
    /** This process, in the place of that one of the job's whose socket it is. */
    private record Holder(OpenDescriptor socket) implements DelegatedProcess {
        @Override
        public StoppedProcess process() {
            return socket.process();
        }

        @Override
        public int pid() {
            return (int) ProcessHandle.current().pid();
        }

        @Override
        public int task() {
            return pid();
        }

        @Override
        public boolean root() {
            return false;
        }

        @Override
        public boolean inFlight() {
            return true;
        }

        @Override
        public int[] ownedDescriptors() {
            return new int[0];
        }

        @Override
        public RuntimeException refuse(int descriptor, String reason) {
            return refuse(reason);
        }

        @Override
        public RuntimeException refuse(String reason) {
            return socket.refuse("a descriptor is in flight in this unix socket: " + reason);
        }

        @Override
        public RuntimeException failed(int descriptor, String reason) {
            return failed(reason);
        }

        @Override
        public RuntimeException failed(String reason) {
            return socket.failed("a descriptor is in flight in this unix socket: " + reason);
        }
    }

    /** By their numbers in this process. */
    private final Map<Integer, OpenDescriptor> open = new LinkedHashMap<>();
    private final Map<Integer, Long> objects = new HashMap<>();

    /** Takes one, to be closed with the others. */
    OpenDescriptor add(OpenDescriptor through, int descriptor) {
        OpenDescriptor socket = through.process() instanceof Holder holder ? holder.socket : through;
        try {
            OpenDescriptor one = DescriptorReader.open(new Holder(socket), descriptor);
            open.put(descriptor, one);
            return one;
        } catch (RuntimeException failure) {
            Files.close(descriptor);
            throw failure;
        }
    }

    /** In the order in which they were found. */
    List<OpenDescriptor> all() {
        return List.copyOf(open.values());
    }

    void read(OpenDescriptor one, long object) {
        objects.put(one.fd(), object);
    }

    long object(int descriptor) {
        return objects.get(descriptor);
    }

    @Override
    public void close() {
        open.keySet().forEach(Files::close);
        open.clear();
    }
}
