package org.udckpt.process.kinds.terminal;

import static org.udckpt.linux.LinuxConstants.AT_FDCWD;
import static org.udckpt.linux.LinuxConstants.F_SETFL;
import static org.udckpt.linux.LinuxConstants.MS_BIND;
import static org.udckpt.linux.LinuxConstants.O_NOCTTY;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Mounts;
import org.udckpt.linux.ProcessHandleFd;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.User;
import org.udckpt.process.kinds.base.MadeObjects;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.JobName;
import org.udckpt.process.model.TerminalObject;
import org.udckpt.process.model.TerminalObject.Terminal;
import org.udckpt.process.model.TerminalObject.TerminalEnd;

/**
 * Makes pseudo-terminals, in a /dev/pts of the job's own, so that each has its old number. They come before the
 * processes have children: a session's controlling terminal is what its leader had when its members were forked.
 */
public final class TerminalRestore {
    private static final int MS_NOSUID = 2, MS_NOEXEC = 8, ACCESS = 3, GROUP = 070;
    private static final int NUMBERS_MOST = 4096;

    private final List<TerminalObject> objects;
    private final MadeObjects handles;
    /** id of a terminal -> whose its slave is; an older image has none */
    private final Map<Long, JobName.Slave> slaves = new HashMap<>();

    /** @param image whose terminals are made */
    public TerminalRestore(JobImage image, MadeObjects handles) {
        this.objects = image.terminals();
        image.names()
                .stream()
                .filter(JobName.Slave.class::isInstance)
                .map(JobName.Slave.class::cast)
                .forEach(name -> slaves.put(name.object(), name));
        this.handles = handles;
    }

    /** Once, in the job's first process. */
    public void make(Maker maker) {
        if (objects.isEmpty()) {
            return;
        }
        mount(maker);
        List<Terminal> terminals = objects(Terminal.class).toList();
        int most = terminals.stream().mapToInt(Terminal::number).max().orElse(-1);
        if (most >= NUMBERS_MOST) {
            throw maker.unsupported(
                    "it has terminal /dev/pts/" + most + "; the highest that can be restored is /dev/pts/"
                            + (NUMBERS_MOST - 1));
        }
        List<Long> unused = new ArrayList<>();
        for (int number = 0; number <= most; number++) { // the kernel gives the lowest number that is free
            long master = open(maker);
            int wanted = number;
            terminals.stream()
                    .filter(one -> one.number() == wanted)
                    .findFirst()
                    .ifPresentOrElse(one -> fill(maker, one, master), () -> unused.add(master));
        }
        unused.forEach(master -> maker.call("close", Syscall.CLOSE, master));
        // whose number nobody asks for
        objects(TerminalEnd.class).filter(end -> end.terminal() == 0).forEach(end -> orphan(maker, end));
    }

    /**
     * With the group and the mode that terminals have on this machine. An ordinary user's namespace has its own group
     * only.
     */
    private static void mount(Maker maker) {
        String slaves = User.id() == 0 ? Mounts.terminals() : "";
        long result = maker.tryCall(Syscall.MOUNT, maker.string("devpts"),
                maker.string("/dev/pts"), maker.string("devpts"),
                MS_NOSUID | MS_NOEXEC,
                maker.string("newinstance,ptmxmode=0666," + (slaves.isEmpty() ? "mode=0620" : slaves)));
        if (result < 0) {
            throw maker.unsupported("it has pseudo-terminals, but its own /dev/pts cannot be mounted: "
                    + LinuxError.name((int) -result));
        }
        maker.call("mount /dev/ptmx", Syscall.MOUNT, maker.string("/dev/pts/ptmx"), maker.string("/dev/ptmx"), 0,
                MS_BIND, 0);
    }

    private static long open(Maker maker) {
        long opened = maker.tryCall(Syscall.OPEN, maker.string("/dev/ptmx"),
                Syscall.O_RDWR | O_NOCTTY | Syscall.O_CLOEXEC, 0);
        if (opened == -LinuxError.ENOSPC) {
            throw maker.unsupported("it has more terminals than this machine allows a /dev/pts of its own: raise "
                    + "kernel.pty.max, of which kernel.pty.reserve are kept for the machine's (sysctl(8))");
        }
        if (opened < 0) {
            throw maker.failed("open /dev/ptmx: " + LinuxError.name((int) -opened));
        }
        return opened;
    }

    private static void unlock(Maker maker, long master) {
        maker.call("unlock a terminal", Syscall.IOCTL, master, org.udckpt.linux.Terminal.TIOCSPTLCK,
                maker.structure().i32(0).put());
    }

    private static long slave(Maker tracee, long master, int flags) {
        // O_CLOEXEC would stay among the flags that F_GETFL shows
        return tracee.call("open a terminal's other end", Syscall.IOCTL, master, org.udckpt.linux.Terminal.TIOCGPTPEER,
                flags | O_NOCTTY);
    }

    /** A slave whose master has gone. */
    private void orphan(Maker maker, TerminalEnd end) {
        long master = open(maker);
        unlock(maker, master);
        add(maker, end, slave(maker, master, end.flags() & (ACCESS | Syscall.O_LARGEFILE)));
        maker.call("close", Syscall.CLOSE, master);
    }

    private void fill(Maker maker, Terminal terminal, long master) {
        unlock(maker, master);
        List<TerminalEnd> ends = objects(TerminalEnd.class).filter(end -> end.terminal() == terminal.id()).toList();
        for (TerminalEnd end : ends) {
            if (!end.master()) {
                add(maker, end, slave(maker, master, end.flags() & (ACCESS | Syscall.O_LARGEFILE)));
            }
        }
        TerminalEnd own = ends.stream()
                .filter(TerminalEnd::master)
                .findFirst()
                .orElseThrow(() -> maker.failed("the image is inconsistent: terminal /dev/pts/"
                        + terminal.number() + " has no master"));
        add(maker, own, master);
        own(maker, terminal);
        TerminalEnd slave = ends.stream().filter(end -> !end.master()).findFirst().orElse(null);
        try (ProcessHandleFd process = new ProcessHandleFd(maker.hostPid())) {
            int here = process.duplicate((int) handles.in(maker, own.id()));
            int other = slave != null ? process.duplicate((int) handles.in(maker, slave.id()))
                    // never opened: the master can tell
                    : terminal.closed() ? org.udckpt.linux.Terminal.slave(here) : here;
            try {
                set(terminal, here, other);
            } finally {
                Files.close(here);
                if (other != here) {
                    Files.close(other);
                }
            }
        }
    }

    /** An ordinary user gives nothing away; and lets nobody in whom the group of the slave is not. */
    private void own(Maker maker, Terminal terminal) {
        JobName.Slave slave = slaves.get(terminal.id());
        if (slave == null) {
            return;
        }
        boolean root = User.id() == 0;
        if (root) {
            maker.call("owner of " + slave.path(), Syscall.FCHOWNAT, AT_FDCWD, maker.string(slave.path()), slave.uid(),
                    slave.gid(), 0);
        }
        maker.call("mode of " + slave.path(), Syscall.FCHMODAT, AT_FDCWD, maker.string(slave.path()),
                root ? slave.mode() : slave.mode() & ~GROUP);
    }

    private static void set(Terminal terminal, int master, int slave) {
        org.udckpt.linux.Terminal.window(master, terminal.window());
        org.udckpt.linux.Terminal.putOutput(slave, terminal.output());
        org.udckpt.linux.Terminal.modes(slave, terminal.modes());
        org.udckpt.linux.Terminal.putInput(master, slave, terminal.input());
        org.udckpt.linux.Terminal.packets(master, terminal.packets());
        org.udckpt.linux.Terminal.lock(master, terminal.locked());
    }

    private void add(Maker maker, TerminalEnd end, long fd) {
        long added = handles.add(maker, end.id(), fd);
        maker.call("set a terminal's flags", Syscall.FCNTL, added, F_SETFL, end.flags() & ~ACCESS);
    }

    /** A leader has its session: it takes its terminal, and who is forked from it now has that too. */
    public void control(Maker leader) {
        objects(Terminal.class)
                .filter(terminal -> terminal.session() == leader.pid())
                .findFirst()
                .ifPresent(terminal -> {
                    long own = slave(leader, master(leader, terminal), Syscall.O_RDWR);
                    leader.call(
                            "take a controlling terminal", Syscall.IOCTL, own, org.udckpt.linux.Terminal.TIOCSCTTY, 0);
                    leader.call("close", Syscall.CLOSE, own);
                });
    }

    /** All groups are there. {@code leader}: of a session. */
    public void foreground(Maker leader) {
        objects(Terminal.class)
                .filter(terminal -> terminal.session() == leader.pid() && terminal.foreground() != 0)
                .findFirst()
                .ifPresent(terminal -> {
                    long master = master(leader, terminal);
                    leader.call("foreground group of a terminal", Syscall.IOCTL, master,
                            org.udckpt.linux.Terminal.TIOCSPGRP,
                            leader.structure().i32(leader.own(terminal.foreground())).put());
                });
    }

    private long master(Maker tracee, Terminal terminal) {
        return handles.in(tracee,
                objects(TerminalEnd.class)
                        .filter(end -> end.master() && end.terminal() == terminal.id())
                        .findFirst()
                        .orElseThrow(() -> tracee.failed("the image is inconsistent: terminal /dev/pts/"
                                + terminal.number() + " has no master"))
                        .id());
    }

    private <T> Stream<T> objects(Class<T> type) {
        return objects.stream().filter(type::isInstance).map(type::cast);
    }
}
