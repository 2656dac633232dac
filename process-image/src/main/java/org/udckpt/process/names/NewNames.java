package org.udckpt.process.names;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.udckpt.process.model.Descriptor;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.JobName;
import org.udckpt.process.model.KernelObject;
import org.udckpt.process.model.MemoryKind;
import org.udckpt.process.model.ProcessState;

/** All names in the file system that a restart of an image makes, by the object that has each. */
public final class NewNames {
    private static final int ANYBODY = 0777, OWNERS = 0600, NOT_KNOWN = -1;

    private final Map<Long, NewName> byObject = new LinkedHashMap<>();
    private final Map<Long, JobName> known = new HashMap<>();
    private final Map<Long, ProcessState> users = new HashMap<>();

    public NewNames(JobImage image) {
        Map<Integer, ProcessState> processes = new HashMap<>();
        image.processes().forEach(process -> processes.put(process.pid(), process));
        for (Descriptor descriptor : image.descriptors()) {
            users.putIfAbsent(descriptor.object(), processes.get(descriptor.pid()));
        }
        for (JobName name : image.names()) {
            switch (name) {
                case JobName.Fifo fifo -> known.put(fifo.object(), fifo);
                case JobName.SocketFile file -> known.put(file.object(), file);
                case JobName.Slave _, JobName.Directory _ -> { }
            }
        }
        for (KernelObject object : image.objects()) {
            NewName name = switch (object) {
                case KernelObject.SharedMemory memory when memory.kind() == MemoryKind.NAMED_FILE ->
                        new NewName(NewName.Kind.SHARED_MEMORY, memory.path(), memory.mode() & 07777, memory.uid(), memory.gid());
                case KernelObject.Pipe pipe when pipe.path() != null -> fifo(pipe);
                case KernelObject.UnixSocket socket when socket.name().length > 0 && socket.name()[0] != 0 -> socket(socket);
                default -> null;
            };
            if (name != null) {
                byObject.put(object.id(), name);
            }
        }
    }

    private NewName fifo(KernelObject.Pipe pipe) {
        return known.get(pipe.id()) instanceof JobName.Fifo fifo ? new NewName(NewName.Kind.FIFO, pipe.path(), fifo.mode(), fifo.uid(), fifo.gid())
                : new NewName(NewName.Kind.FIFO, pipe.path(), OWNERS, NOT_KNOWN, NOT_KNOWN);
    }

    private NewName socket(KernelObject.UnixSocket socket) {
        if (known.get(socket.id()) instanceof JobName.SocketFile file) {
            return file.path().isEmpty() ? null : new NewName(NewName.Kind.SOCKET, file.path(), file.mode(), file.uid(), file.gid());
        }
        // An image from before names were recorded: what bind(2) would do.
        ProcessState user = users.get(socket.id());
        String name = new String(socket.name(), StandardCharsets.UTF_8);
        String path = name.startsWith("/") || user == null ? name : user.workingDirectory() + "/" + name;
        return new NewName(NewName.Kind.SOCKET, path, user == null ? OWNERS : ANYBODY & ~user.umask(), NOT_KNOWN, NOT_KNOWN);
    }

    /** Null: the object has none, or has none any more. */
    public NewName of(long object) {
        return byObject.get(object);
    }

    /** Each once. */
    public List<NewName> all() {
        return byObject.values().stream().filter(Objects::nonNull).distinct().toList();
    }
}
