package org.udckpt.process.capture;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.ObjectTable;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.kinds.base.Outside;
import org.udckpt.process.kinds.epoll.EpollEntry;
import org.udckpt.process.kinds.eventfd.EventFd;
import org.udckpt.process.kinds.eventfd.EventFdKind;
import org.udckpt.process.kinds.pipe.Pipe;
import org.udckpt.process.kinds.pipe.PipeEnd;
import org.udckpt.process.kinds.unix.UnixSocket;
import org.udckpt.process.model.Descriptor;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.KernelObject;
import org.udckpt.process.model.MemoryKind;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.OpenFile;
import org.udckpt.process.model.SharedMemory;

/** One record per kernel object, with what is in it, however many descriptors and processes share it. */
@Timeout(180)
class DescriptorsTest {
    private final Map<String, Integer> numbers = new HashMap<>();
    private Target target;
    private JobImage image;

    @Test
    void sharedDescriptors() throws Exception {
        try (Target started = Target.own("share")) {
            target = started;
            for (String word : Files.readString(target.directory.resolve("ready")).split(" ")) {
                numbers.put(word.substring(0, word.indexOf('=')),
                        Integer.parseInt(word.substring(word.indexOf('=') + 1)));
            }
            // twice: what the first capture looks at must still be there
            for (int round = 0; round < 2; round++) {
                try (Capture capture = Capture.take(target.request())) {
                    image = capture.image();
                    assertEquals(List.of(target.pid, numbers.get("child")),
                            image.processes().stream().map(p -> p.pid()).toList());
                    files(capture.sources());
                    pipes();
                    sockets();
                }
            }
        }
    }

    /** Its fdinfo does not tell a semaphore, but the library's mark does. */
    @Test
    void eventFdsOfAnOlderKernel() throws Exception {
        try (Target eventfd = Target.feature("eventfd", Target.LIBRARY);
                Stream<Path> descriptors = Files.list(Path.of("/proc/" + eventfd.pid + "/fd"))) {
            TracedProcess process = TracedProcess.root(new CaptureRequest.Root(0, eventfd.pid));
            ObjectTable table = new ObjectTable(new Outside(false));
            KindCapture kind =
                    new EventFdKind()
                            .capture(new DescriptorScope(table,
                                    new CaptureRequest(List.of(), CaptureRequest.StandardStreams.NONE), null, null,
                                    null));
            descriptors.map(path -> DescriptorReader.open(process, Integer.parseInt(path.getFileName().toString())))
                    .filter(kind::takes).map(DescriptorsTest::withoutSemaphore).forEach(kind::read);
            List<EventFd> found = table.objects().stream().map(EventFd.class::cast).toList();
            assertEquals(4, found.size(), found::toString);
            assertEquals(List.of(3L), found.stream().filter(EventFd::semaphore).map(EventFd::count).toList(),
                    found::toString);
        }
    }

    private static OpenDescriptor withoutSemaphore(OpenDescriptor open) {
        String info = open.info().lines().filter(line -> !line.startsWith("eventfd-semaphore:"))
                .collect(Collectors.joining("\n", "", "\n"));
        return new OpenDescriptor(open.process(), open.fd(), open.link(), info, open.flags(), open.position(),
                open.stat());
    }

    private void files(List<MemorySource> sources) {
        OpenFile a = (OpenFile) object("a");
        OpenFile b = (OpenFile) object("b");
        assertEquals(a, object("c"), "dup'ed");
        assertNotEquals(a.id(), b.id(), "opened twice");
        assertEquals(10, a.position());
        assertEquals(4, b.position());
        assertEquals(a.inode(), b.inode());
        OpenFile gone = (OpenFile) object("gone");
        SharedMemory contents = (SharedMemory) byId(gone.backing());
        assertEquals(MemoryKind.DELETED_FILE, contents.kind());
        assertEquals(8, contents.size());
        MemorySource source =
                sources.stream().filter(s -> !s.process() && s.id() == contents.id()).findFirst().orElseThrow();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(8);
            source.read(0, bytes);
            assertEquals("unlinked", new String(bytes.toArray(ValueLayout.JAVA_BYTE), StandardCharsets.US_ASCII));
        }
        for (Descriptor one : image.descriptors()) {
            assertEquals(one.object(), descriptor(numbers.get("child"), one.fd()).object(), "inherited by the child");
        }
    }

    private void pipes() {
        PipeEnd read = (PipeEnd) object("read");
        PipeEnd write = (PipeEnd) object("write");
        assertTrue(write.writeEnd() && !read.writeEnd() && read.pipe() == write.pipe());
        assertTrue(descriptor(target.pid, numbers.get("read")).closeOnExec());
        assertArrayEquals("hello".getBytes(StandardCharsets.US_ASCII), ((Pipe) byId(read.pipe())).contents());
        Pipe full = (Pipe) byId(((PipeEnd) object("full")).pipe());
        assertEquals(65536, full.contents().length, "a pipe that is full");
        assertEquals(7, full.contents()[15 * 4096]);
    }

    private void sockets() {
        UnixSocket zero = (UnixSocket) object("s0");
        UnixSocket one = (UnixSocket) object("s1");
        assertEquals(one.id(), zero.peer());
        assertEquals(zero.id(), one.peer());
        assertArrayEquals("to one".getBytes(StandardCharsets.US_ASCII), one.queued());
        assertArrayEquals("to zero".getBytes(StandardCharsets.US_ASCII), zero.queued());
        UnixSocket datagram = (UnixSocket) object("d1");
        assertArrayEquals(new int[]{5, 10}, datagram.messageLengths());
        assertArrayEquals("firstsecond one".getBytes(StandardCharsets.US_ASCII), datagram.queued());
        EpollEntry entry = image.objects().stream().filter(EpollEntry.class::isInstance).map(EpollEntry.class::cast)
                .findFirst().orElseThrow();
        assertEquals(object("epoll").id(), entry.epoll());
        assertEquals(one.id(), entry.object());
        assertEquals(0x1234567890abcdefL, entry.data());
    }

    private KernelObject object(String name) {
        return byId(descriptor(target.pid, numbers.get(name)).object());
    }

    private KernelObject byId(long id) {
        return image.objects().stream().filter(o -> o.id() == id).findFirst().orElseThrow();
    }

    private Descriptor descriptor(int pid, int fd) {
        return image.descriptors().stream().filter(d -> d.pid() == pid && d.fd() == fd).findFirst().orElseThrow();
    }
}
