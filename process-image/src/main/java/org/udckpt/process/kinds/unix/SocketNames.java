package org.udckpt.process.kinds.unix;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.udckpt.linux.Files;
import org.udckpt.linux.Folder;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.RawText;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.MadeObjects;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.kinds.socket.UnixAddress;
import org.udckpt.process.model.NamespaceMember;
import org.udckpt.process.names.AbstractNames;
import org.udckpt.process.names.NewName;
import org.udckpt.process.names.PlacedNames;
import org.udckpt.process.names.StagingDirectory;

/**
 * Gives unix sockets their names. To a program a socket is called what it said to bind(2), so bind(2) has to be told
 * the same again, and would look for it through whatever links are on the way now. Therefore the process is shut for a
 * moment into a private directory ({@link PlacedNames.Stage}) in which the path is built anew (chroot(2)), and binds
 * there. The file gets its owner and mode in there, and comes to its place by rename(2). One whose name had been
 * removed is bound there too, and stands nowhere. Others connect to it by a descriptor of that file, whatever stands at
 * the path.
 */
final class SocketNames {
    /** The id of a socket that is not in the image: it is closed again, and its name stands nowhere. */
    static final long NOBODY = 0;
    private static final String TOP = "root", INSIDE = "d";

    private final RestoreScope scope;
    private final PlacedNames placed;
    private final MadeObjects handles;
    /** Files of sockets that are in their places on file systems of the job's own. */
    private final Set<String> bound = new HashSet<>();

    SocketNames(RestoreScope scope) {
        this.scope = scope;
        this.placed = scope.placed();
        this.handles = scope.made();
    }

    /**
     * Where bind(2) is to make the file: the process's directory in the private one, and the last directory of the
     * path.
     */
    private record Tree(Folder start, String inside, Folder last, String name, List<Folder> open) {}

    void bind(Maker maker, UnixSocket socket, long fd) {
        if (socket.name()[0] == 0) {
            bindAbstract(maker, socket, fd);
            return;
        }
        OwnSocketFile own = own(socket);
        if (own != null) {
            bindOwn(maker, socket, fd, own);
            return;
        }
        NewName wanted = scope.name(socket.id());
        boolean second = wanted != null && placed.has(wanted.path());
        try (PlacedNames.Stage stage = placed.stage(second ? null : wanted)) {
            Tree tree = build(stage.folder(), RawText.decode(socket.name()));
            try {
                // where nothing is to stand: a mount namespace of the job's own may have something else there
                long inside = second || wanted == null ? scope.give(maker, tree.start.descriptor())
                        : scope.openDirectory(maker, stage.folder().below(TOP), tree.start.stat());
                long file = bindInside(maker, socket, fd, inside, tree);
                if (socket.id() == NOBODY) {
                    maker.call("close", Syscall.CLOSE, file);
                } else {
                    handles.add(maker, handleOfFile(socket), file);
                }
                if (wanted != null && !second) {
                    placed.give(tree.last, tree.name, wanted);
                    tree.last.mode(tree.name, PlacedNames.mode(wanted, tree.last.stat(tree.name)));
                    stage.place(tree.last, tree.name);
                }
            } finally {
                tree.open.forEach(Folder::close);
            }
        }
    }

    /** Null: it has none on a file system of the job's own. */
    OwnSocketFile own(UnixSocket socket) {
        return scope.objects(OwnSocketFile.class).stream().filter(file -> file.object() == socket.id()).findFirst()
                .orElse(null);
    }

    /**
     * On a file system of the job's own, which is there with all its files: bind(2) makes another one, which takes the
     * place of the socket's. A second socket of that name, as accept(2) gives one, has none of its own.
     */
    private void bindOwn(Maker maker, UnixSocket socket, long fd, OwnSocketFile own) {
        Maker member = scope.objects(NamespaceMember.class).stream().filter(one -> one.tree() == own.tree()).findFirst()
                .map(one -> scope.process(one.pid())).orElseThrow();
        if (!scope.isOwn(member, own.path())) {
            throw scope.inconsistent("the image is inconsistent: a socket's file is on no file system of the job's");
        }
        int slash = own.path().lastIndexOf('/');
        String name = own.path().substring(slash + 1);
        try (Folder target = Folder.open("/proc/" + member.hostPid() + "/root", own.path().substring(0,
                Math.max(1, slash))); StagingDirectory staging = StagingDirectory.in(target)) {
            Files.Stat there = target.stat(name);
            Tree tree = build(staging.folder(), RawText.decode(socket.name()));
            try {
                long file = bindInside(maker, socket, fd, scope.give(maker, tree.start.descriptor()), tree);
                handles.add(maker, handleOfFile(socket), file);
                if (there == null || there.type() != Files.Stat.SOCKET) {
                    throw maker.changed(own.path() + " is no socket's file");
                }
                if (bound.add(there.device() + ":" + target.stat().inode() + ":" + name)) {
                    tree.last.owner(tree.name, own.uid(), own.gid());
                    tree.last.mode(tree.name, own.mode());
                    target.unlink(name);
                    tree.last.move(tree.name, target, name);
                }
            } finally {
                tree.open.forEach(Folder::close);
            }
        }
    }

    /** Descriptors of files are kept beside those of the sockets, whose ids are positive. */
    private static long handleOfFile(UnixSocket socket) {
        return -socket.id();
    }

    private static void bindAbstract(Maker maker, UnixSocket socket, long fd) {
        long result = maker.tryCall(
                Syscall.BIND, fd, UnixAddress.put(maker, socket.name()), UnixAddress.length(socket.name()));
        if (result == -LinuxError.EADDRINUSE) {
            AbstractNames.check(socket.name());
        }
        if (result < 0) {
            throw maker.failed("bind a unix socket to " + shown(socket) + ": " + LinuxError.name((int) -result));
        }
    }

    /** The directories of the name, as deep below {@code top} as ".." leads up. */
    private static Tree build(Folder stage, String name) {
        List<Folder> open = new ArrayList<>();
        List<String> inside = new ArrayList<>();
        Folder top = stage.makeSub(TOP);
        open.add(top);
        Folder at = top;
        String[] parts = name.split("/");
        if (!name.startsWith("/")) {
            for (String part : parts) {
                if (part.equals("..")) {
                    at = enter(at, INSIDE, open);
                    inside.add(INSIDE);
                }
            }
        }
        List<Folder> way = new ArrayList<>(open);
        for (int i = 0; i + 1 < parts.length; i++) {
            switch (parts[i]) {
                case "", "." -> {
                }
                case ".." -> way = way.size() > 1 ? way.subList(0, way.size() - 1) : way;
                default -> {
                    way = new ArrayList<>(way);
                    way.add(enter(way.getLast(), parts[i], open));
                }
            }
        }
        return new Tree(
                top, inside.isEmpty() ? "." : String.join("/", inside), way.getLast(), parts[parts.length - 1], open);
    }

    private static Folder enter(Folder at, String name, List<Folder> open) {
        Folder sub = at.stat(name) == null ? at.makeSub(name) : at.sub(name);
        open.add(sub);
        return sub;
    }

    /** A descriptor, in {@code maker}, of the file that was made. */
    private long bindInside(Maker maker, UnixSocket socket, long fd, long inside, Tree tree) {
        long root = maker.call(
                "open /", Syscall.OPEN, maker.string("/"), Syscall.O_PATH | Syscall.O_DIRECTORY | Syscall.O_CLOEXEC, 0);
        long directory = maker.call("open its working directory", Syscall.OPEN, maker.string("."),
                Syscall.O_PATH | Syscall.O_DIRECTORY | Syscall.O_CLOEXEC, 0);
        String what = "bind a unix socket to " + shown(socket);
        shut(maker, inside, what);
        maker.call(what, Syscall.CHDIR, maker.string(tree.inside));
        maker.call(what, Syscall.BIND, fd, UnixAddress.put(maker, socket.name()), UnixAddress.length(socket.name()));
        long file = maker.call(what, Syscall.OPEN, maker.string(RawText.decode(socket.name())),
                Syscall.O_PATH | Syscall.O_NOFOLLOW | Syscall.O_CLOEXEC, 0);
        shut(maker, root, what);
        maker.call(what, Syscall.FCHDIR, directory);
        for (long one : new long[]{inside, root, directory}) {
            maker.call("close", Syscall.CLOSE, one);
        }
        return file;
    }

    private static void shut(Maker maker, long directory, String what) {
        maker.call(what, Syscall.FCHDIR, directory);
        long result = maker.tryCall(Syscall.CHROOT, maker.string("."));
        if (result < 0) {
            throw maker.unsupported(what + ": chroot(2), which keeps its path free of symbolic links, failed: "
                    + LinuxError.name((int) -result) + "; this needs CAP_SYS_CHROOT");
        }
    }

    /** Connects {@code fd} of {@code maker} to a socket with a name, which has been bound here. */
    void connect(Maker maker, String what, long fd, UnixSocket to) {
        byte[] name = reach(maker, to);
        maker.call(what, Syscall.CONNECT, fd, UnixAddress.put(maker, name), UnixAddress.length(name));
    }

    /** A name by which {@code maker} reaches a socket that has been bound here. */
    byte[] reach(Maker maker, UnixSocket to) {
        return to.name()[0] == 0
                ? to.name()
                : ("/proc/self/fd/" + handles.in(maker, handleOfFile(to))).getBytes(StandardCharsets.US_ASCII);
    }

    /** A socket that is not in the image. */
    static UnixSocket nobody(int type, long peer, byte[] name) {
        return new UnixSocket(NOBODY, 0, type, SocketState.PEER_CLOSED, peer, new byte[0], new int[0], name, 0, 0, 0, 0,
                0, 0, false);
    }

    private static String shown(UnixSocket socket) {
        return RawText.decode(socket.name()).replace('\0', '@');
    }
}
