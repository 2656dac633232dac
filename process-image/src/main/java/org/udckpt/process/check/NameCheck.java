package org.udckpt.process.check;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.udckpt.process.kinds.pipe.Pipe;
import org.udckpt.process.kinds.unix.UnixSocket;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.JobName;
import org.udckpt.process.model.KernelObject;
import org.udckpt.process.model.MappedFile;
import org.udckpt.process.model.RowCheck;
import org.udckpt.process.model.TerminalObject;

/** The names that a restart makes: whose they are, and that they cannot lead elsewhere. */
final class NameCheck {
    private static final int MODES = 07777;

    private final JobImage image;

    NameCheck(JobImage image) {
        this.image = image;
    }

    void check() throws BrokenTable {
        Map<Long, KernelObject> objects = new HashMap<>();
        image.objects().stream().filter(object -> !(object instanceof MappedFile))
                .forEach(object -> objects.put(object.id(), object));
        Set<Object> seen = new HashSet<>();
        RowCheck row = new RowCheck("names");
        for (JobName name : image.names()) {
            row.next();
            switch (name) {
                case JobName.Fifo fifo -> {
                    row.require(objects.get(fifo.object()) instanceof Pipe pipe && fifo.path() != null
                            && fifo.path().equals(pipe.path()), "object %d is not a FIFO with this path",
                            fifo.object());
                    row.require(seen.add(fifo.object()), "duplicate name of object %d", fifo.object());
                    attributes(row, fifo.path(), fifo.mode(), fifo.uid(), fifo.gid());
                }
                case JobName.SocketFile file -> {
                    row.require(objects.get(file.object()) instanceof UnixSocket socket && socket.name().length > 0
                            && socket.name()[0] != 0, "object %d is not a unix socket bound to a path", file.object());
                    row.require(seen.add(file.object()), "duplicate name of object %d", file.object());
                    row.notNull("path", file.path());
                    attributes(row, file.path().isEmpty() ? "/gone" : file.path(), file.mode(), file.uid(), file.gid());
                }
                case JobName.Slave slave -> {
                    row.require(image.terminals().stream()
                            .anyMatch(one -> one instanceof TerminalObject.Terminal terminal
                                    && terminal.id() == slave.object()
                                    && ("/dev/pts/" + terminal.number()).equals(slave.path())),
                            "object %d is not a terminal with this path", slave.object());
                    row.require(seen.add(slave.object()), "duplicate name of object %d", slave.object());
                    attributes(row, slave.path(), slave.mode(), slave.uid(), slave.gid());
                }
                case JobName.Directory directory -> {
                    row.require(seen.add(directory.path()), "duplicate directory (path length %d)",
                            directory.path() == null ? 0 : directory.path().length());
                    attributes(row, directory.path(), directory.mode(), directory.uid(), directory.gid());
                }
            }
        }
    }

    private static void attributes(RowCheck row, String path, int mode, int uid, int gid) throws BrokenTable {
        FileCheck.path(row, "path", path);
        row.between(0, MODES, "mode", mode);
        row.notNegative("uid", uid);
        row.notNegative("gid", gid);
    }
}
