package org.udckpt.process.capture;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.udckpt.linux.LinuxConstants.SOL_SOCKET;
import static org.udckpt.linux.LinuxConstants.SO_PEERCRED;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.udckpt.linux.Files;
import org.udckpt.linux.Proc;
import org.udckpt.linux.ProcessHandleFd;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.files.QuietFiles;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.Environment;
import org.udckpt.process.kinds.base.MessageSender;
import org.udckpt.process.kinds.base.ObjectTable;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.kinds.base.OpenedByName;
import org.udckpt.process.kinds.base.StoppedProcess;
import org.udckpt.process.model.Zombie;

/** What a capture offers to the kinds. */
final class DescriptorScope implements CaptureScope {
    /** struct ucred */
    private static final int CREDENTIALS = 12;

    private static final String SOCKET = "socket:";

    private final ObjectTable table;
    private final CaptureRequest request;
    private final MemoryObjects memory;
    private final OpenedByName names = new OpenedByName();
    private final PeerCredentialReader peers;
    private final List<StoppedProcess> processes = new ArrayList<>();
    private final Set<Integer> ended = new HashSet<>();
    private final FilesInFlight inFlight;
    private final Consumer<OpenDescriptor> look;
    private QuietFiles quiet;
    /** Descriptor numbers of the process that is being read. */
    private int control = CaptureRequest.NONE;
    private int processManager = CaptureRequest.NONE;
    private final Map<Integer, Integer> shepherds = new HashMap<>();

    DescriptorScope(ObjectTable table, CaptureRequest request, MemoryObjects memory,
            FilesInFlight inFlight, Consumer<OpenDescriptor> look) {
        this.memory = memory;
        this.inFlight = inFlight;
        this.look = look;
        this.table = table;
        this.request = request;
        this.peers = new PeerCredentialReader(table);
    }

    void openBy(QuietFiles opener) {
        quiet = opener;
    }

    void ended(Zombie zombie) {
        names.ended(zombie);
        ended.add(zombie.pid());
    }

    /** Its descriptors come next, which are these. */
    void reading(TracedProcess process, CaptureRequest.Root root, List<OpenDescriptor> open) {
        processes.add(process);
        peers.seen(process);
        control = process.library == null ? CaptureRequest.NONE : process.library.controlDescriptor();
        processManager =
                processManager(process, root, open, shepherds.computeIfAbsent(root.pid(), SharingCheck::shepherd));
    }

    /** What no process has comes next. */
    void readingInFlight() {
        control = CaptureRequest.NONE;
        processManager = CaptureRequest.NONE;
    }

    /**
     * Not each number that the environment names is one: who closes all that it was started with (a daemon) opens
     * something else under it. A wrapper (bwrap(1), a shell) hands its connection on to a child, and may close its
     * own.
     */
    private static int processManager(TracedProcess process, CaptureRequest.Root root, List<OpenDescriptor> open,
            int shepherd) {
        int number = process.root() && root.pmiDescriptor() != CaptureRequest.NONE ? root.pmiDescriptor()
                : told(process);
        if (number != CaptureRequest.NONE && shepherd < 0 && process.root()) {
            return number; // it was not started by one
        }
        return made(process, number == CaptureRequest.NONE ? open
                : open.stream().filter(one -> one.fd() == number).toList(), shepherd);
    }

    /** What its environment says: of a process that has put its title there, nothing (setproctitle(3), nginx). */
    private static int told(TracedProcess process) {
        String value = Environment.of(process.task(), "PMI_FD");
        return value == null || !value.matches("[0-9]{1,9}") ? CaptureRequest.NONE : Integer.parseInt(value);
    }

    /** A socket that the shepherd has made. */
    private static int made(TracedProcess process, List<OpenDescriptor> open, int shepherd) {
        if (shepherd < 0 || open.stream().noneMatch(one -> one.link().startsWith(SOCKET))) {
            return CaptureRequest.NONE;
        }
        try (ProcessHandleFd handle = new ProcessHandleFd(process.task())) {
            return open.stream().filter(one -> one.link().startsWith(SOCKET) && maker(handle, one.fd()) == shepherd)
                    .mapToInt(OpenDescriptor::fd).findFirst().orElse(CaptureRequest.NONE);
        }
    }

    /** Who has made a pair of unix sockets (SO_PEERCRED, unix(7)). */
    private static int maker(ProcessHandleFd handle, int socket) {
        int own = handle.duplicate(socket);
        var data = Scratch.data();
        data.set(JAVA_INT, CREDENTIALS, CREDENTIALS);
        long result = Syscall.call(Syscall.GETSOCKOPT, own, SOL_SOCKET, SO_PEERCRED, data.address(),
                data.address() + CREDENTIALS);
        Files.close(own);
        return result < 0 ? 0 : data.get(JAVA_INT, 0);
    }

    /** Whether somebody else than the job has made what it names: their numbers say so. */
    boolean given(OpenDescriptor open) {
        return open.fd() == control || open.fd() == processManager || stream(open) >= 0;
    }

    PeerCredentialReader peers() {
        return peers;
    }

    @Override
    public ObjectTable table() {
        return table;
    }

    @Override
    public QuietFiles quiet() {
        return quiet;
    }

    @Override
    public List<StoppedProcess> processes() {
        return processes;
    }

    @Override
    public boolean ended(int namespacePid) {
        return ended.contains(namespacePid);
    }

    @Override
    public void askPeer(OpenDescriptor open, long object, int socket) {
        peers.read(open, object, socket);
    }

    @Override
    public void askSender(OpenDescriptor open, MessageSender sender) {
        peers.read(open, sender);
    }

    @Override
    public void opened(OpenDescriptor through, int descriptor) {
        look.accept(inFlight.add(through, descriptor));
    }

    @Override
    public long inFlight(int descriptor) {
        return inFlight.object(descriptor);
    }

    @Override
    public long contentOf(OpenDescriptor open) {
        return memory.ofFile(open);
    }

    @Override
    public void mapped(OpenDescriptor open, long object) {
        memory.mapped(open.stat(), object);
    }

    @Override
    public void mapped(String file, long object) {
        memory.mapped(file, object);
    }

    @Override
    public Path shepherd() {
        return request.shepherd();
    }

    @Override
    public String nameOnDisk(OpenDescriptor open) {
        return memory.nameOnDisk(open);
    }

    @Override
    public OpenedByName names() {
        return names;
    }

    @Override
    public int stream(OpenDescriptor open) {
        return request.streams().match(open.fd(), open.stat());
    }

    @Override
    public boolean toAgent(OpenDescriptor open) {
        return open.fd() == control;
    }

    @Override
    public boolean toProcessManager(OpenDescriptor open) {
        return open.fd() == processManager && open.link().startsWith(SOCKET);
    }
}
