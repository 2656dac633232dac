package org.udckpt.process.capture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.ObjectKinds;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.ObjectTable;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.kinds.base.Outside;
import org.udckpt.process.kinds.socket.SocketCapture;
import org.udckpt.process.kinds.socket.SocketType;

/** Exactly one kind takes a descriptor: so their order in the list does not matter. */
@Timeout(120)
class OneKindTakesTest {
    private static final int O_NOCTTY = 0400;

    @ParameterizedTest
    @ValueSource(strings = {"file_kinds", "proc_sysfs_fds", "path_descriptors", "zero_device", "pidfd", "epoll",
            "inotify", "signalfd", "timerfd", "fifo", "memfd", "deleted_file", "socketpair_data", "tcp_socket", "udp",
            "netlink", "namespace_files", "raw_sockets", "posix_queues", "removed_node", "fanotify"})
    void one(String feature) throws Exception {
        try (Target target = Target.feature(feature, Target.LIBRARY)) {
            int seen = 0;
            for (int fd : Proc.descriptors(target.pid)) {
                seen += takenOnce(target.pid, fd) ? 1 : 0;
            }
            assertTrue(seen > 0);
        }
    }

    /** Of this process: an end of a terminal is a character device, as others are. */
    @Test
    void terminal() {
        int master = Files.open("/dev/ptmx", Syscall.O_RDWR | O_NOCTTY);
        try {
            assertTrue(takenOnce((int) ProcessHandle.current().pid(), master));
        } finally {
            Files.close(master);
        }
    }

    /** False: the process, which runs, has closed it. */
    private static boolean takenOnce(int pid, int fd) {
        DescriptorScope scope = new DescriptorScope(new ObjectTable(new Outside(false)),
                new CaptureRequest(List.of(), CaptureRequest.StandardStreams.NONE), null, null, null);
        OpenDescriptor open;
        try {
            open = DescriptorReader.open(TracedProcess.root(new CaptureRequest.Root(0, pid)), fd);
        } catch (LinuxError e) {
            assertEquals(LinuxError.ENOENT, e.errno(), e::getMessage);
            return false;
        }
        List<ObjectKinds> taking = ObjectKinds.captures(scope).entrySet().stream()
                .filter(one -> takes(one.getValue(), open)).map(Map.Entry::getKey).toList();
        assertEquals(1, taking.size(), open + ": " + taking);
        return true;
    }

    private static boolean takes(KindCapture kind, OpenDescriptor open) {
        if (kind instanceof SocketCapture socket && !open.onlyNames() && open.link().startsWith("socket:")) {
            return open.duplicated(same -> socket.takes(SocketType.of(same)));
        }
        return (!open.onlyNames() || kind.takesHandles()) && kind.takes(open);
    }
}
