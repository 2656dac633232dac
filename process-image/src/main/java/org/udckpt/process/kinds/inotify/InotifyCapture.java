package org.udckpt.process.kinds.inotify;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.udckpt.linux.LinuxConstants.FIONREAD;

import java.util.List;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.AskedProcess;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.model.FileNotice;
import org.udckpt.process.model.InotifyWatch;

/**
 * The watches of an inotify descriptor: fdinfo tells file handles (proc_pid_fdinfo(5)). What they lead to only root may
 * ask; for others names are tried ({@link WatchedNames}).
 */
final class InotifyCapture implements KindCapture {
    /** What a program can ask for: IN_ALL_EVENTS, IN_EXCL_UNLINK, IN_ONESHOT. */
    private static final int USERS = 0xfff | 0x0400_0000 | 0x8000_0000;

    private final CaptureScope scope;
    private final WatchedNames names;
    private final HandlePaths handles;

    InotifyCapture(CaptureScope scope) {
        this.scope = scope;
        this.names = new WatchedNames(scope);
        this.handles = new HandlePaths(scope);
    }

    @Override
    public void ask(AskedProcess caller, List<AskedProcess> processes) {
        names.ask(processes);
    }

    @Override
    public boolean takes(OpenDescriptor open) {
        return open.link().equals("anon_inode:inotify");
    }

    @Override
    public long read(OpenDescriptor open) {
        long id = scope.table().newId();
        for (String line : open.info().split("\n")) {
            if (line.startsWith("inotify wd:")) {
                scope.table().add(watch(open, id, WatchedFile.of(line)));
            }
        }
        if (unread(open) > 0) {
            scope.table().add(new FileNotice.LostEvents(id));
        }
        scope.table().add(new InotifyFd(id, open.openFlags()));
        return id;
    }

    private InotifyWatch watch(OpenDescriptor open, long id, WatchedFile file) {
        if (file.number() > InotifyWatch.NUMBER_MOST) {
            throw open.refuse("this inotify descriptor has watch " + file.number()
                    + "; the highest that can be restored is " + InotifyWatch.NUMBER_MOST);
        }
        String path = file.handle().length > 0 ? handles.find(open, file) : null;
        // in a mount namespace of the job's own, as root: names that were noted may be of any
        path = path == null && open.process().mountNamespace() == 0 ? names.find(open, file) : path;
        path = path == null && !open.process().inPidNamespace() ? names.ofDescriptor(file) : path;
        if (path == null) {
            throw open.refuse("watch " + file.number() + " of this inotify descriptor is on a file " + (handles.may()
                    ? "without a path, or on an invisible mount"
                    : "whose name was not found, as only root can ask for it (open_by_handle_at(2))")
                    + "; remove the watch first");
        }
        return new InotifyWatch(id, file.number(), path, file.mask() & USERS);
    }

    /** Bytes of events, which nobody can look at without taking them. */
    static int unread(OpenDescriptor open) {
        return open.duplicated(same -> {
            LinuxError.check(Syscall.call(Syscall.IOCTL, same, FIONREAD, Scratch.data().address()),
                    "events of a watching descriptor");
            return Scratch.data().get(JAVA_INT, 0);
        });
    }
}
