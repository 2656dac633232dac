package org.udckpt.process.kinds.terminal;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.Files;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Terminal;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.ObjectTable;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.kinds.base.StoppedProcess;
import org.udckpt.process.model.JobName;
import org.udckpt.process.model.TerminalObject.TerminalEnd;

/**
 * Pseudo-terminals whose master is in the job. Their bytes cannot be looked at, so they are taken and put back at once;
 * where the agent is killed in that moment they are lost, as a line's noise would lose them.
 */
final class TerminalCapture implements KindCapture {
    /** Device numbers of masters, and of slaves in /dev/pts (linux/major.h, UNIX98_PTY_SLAVE_MAJOR). */
    private static final long MASTER = 0x502;
    private static final int SLAVE_FIRST = 136, SLAVE_LAST = 143;
    /** proc_pid_stat(5), from field 3 (state) on: pgrp. */
    private static final int GROUP = 5 - 3;

    private record End(OpenDescriptor open, long id, boolean hungUp) {}

    private final CaptureScope scope;
    private final ObjectTable table;
    private final List<End> masters = new ArrayList<>();
    private final Map<Integer, List<End>> slaves = new HashMap<>();

    TerminalCapture(CaptureScope scope) {
        this.scope = scope;
        this.table = scope.table();
    }

    @Override
    public boolean takes(OpenDescriptor open) {
        return open.link().startsWith("/") && open.stat().type() == Files.Stat.CHARACTER && isTerminal(open.stat());
    }

    private static boolean isTerminal(Files.Stat stat) {
        return stat.rawDevice() == MASTER || major(stat) >= SLAVE_FIRST && major(stat) <= SLAVE_LAST;
    }

    @Override
    public long read(OpenDescriptor open) {
        long id = table.newId();
        if (open.stat().rawDevice() == MASTER) {
            masters.add(new End(open, id, false));
        } else {
            boolean hungUp = open.duplicated(fd -> Terminal.modes(fd) == null);
            slaves.computeIfAbsent(minor(open.stat()), number -> new ArrayList<>()).add(new End(open, id, hungUp));
        }
        return id;
    }

    /** When all ends of all processes are known. */
    @Override
    public void finish() {
        for (End master : masters) {
            master.open.duplicated(fd -> {
                read(master, fd);
                return null;
            });
        }
        for (List<End> left : slaves.values()) {
            for (End slave : left) {
                if (!slave.hungUp) {
                    table.outside().add(slave.open,
                            "terminal " + slave.open.link() + " belongs to a process outside of the job",
                            "redirect it to a file, or start the job in it (udckpt run keeps its own standard "
                                    + "streams)");
                }
                table.add(new TerminalEnd(slave.id, 0, false, slave.open.openFlags()));
            }
        }
    }

    private void read(End master, int fd) {
        int number = Terminal.number(fd);
        long id = table.newId();
        table.add(new TerminalEnd(master.id, id, true, master.open.openFlags()));
        List<End> own = slaves.getOrDefault(number, List.of()).stream().filter(slave -> !slave.hungUp).toList();
        own.forEach(slave -> table.add(new TerminalEnd(slave.id, id, false, slave.open.openFlags())));
        slaves.computeIfPresent(number, (key, all) -> all.stream().filter(End::hungUp).toList());
        byte[] output = new byte[0];
        byte[] input = new byte[0];
        if (!own.isEmpty()) {
            byte[][] between =
                    own.getFirst().open.duplicated(slave -> new byte[][]{output(fd, slave), input(fd, slave)});
            output = between[0];
            input = between[1];
        } else if (Terminal.readable(fd)) { // the rest after the slave was closed; closing it once more changes nothing
            int slave = Terminal.slave(fd);
            try {
                output = output(fd, slave);
            } finally {
                Files.close(slave);
            }
        }
        name(master, id, number);
        table.add(new org.udckpt.process.model.TerminalObject.Terminal(id, number, Terminal.modes(fd),
                Terminal.window(fd), Terminal.locked(fd), Terminal.packets(fd), own.isEmpty() && Terminal.hungUp(fd),
                session(master, Terminal.session(fd)), foreground(Terminal.foreground(fd)), output, input));
    }

    /** The slave may have no descriptor, and must not be opened for this: its end is told to the master (EIO). */
    private void name(End master, long id, int number) {
        String path = "/dev/pts/" + number;
        Files.Stat stat = Files.tryStat(master.open.process().mounts() + path);
        if (stat != null && stat.type() == Files.Stat.CHARACTER && isTerminal(stat)
                && minor(stat) + 256 * (major(stat) - SLAVE_FIRST) == number) {
            table.add(new JobName.Slave(id, path, stat.mode() & 07777, stat.uid(), stat.gid()));
        }
    }

    private static byte[] output(int master, int slave) {
        if (!Terminal.readable(master)) {
            return new byte[0];
        }
        byte[] taken = Terminal.takeOutput(master);
        Terminal.putOutput(slave, taken);
        return taken;
    }

    private static byte[] input(int master, int slave) {
        byte[] taken = Terminal.takeInput(slave);
        Terminal.putInput(master, slave, taken);
        return taken;
    }

    private int session(End master, int leader) {
        if (leader == 0) {
            return 0;
        }
        return scope.processes()
                .stream()
                .filter(process -> process.pid() == leader)
                .findFirst()
                .orElseThrow(() -> master.open.refuse("this terminal controls session " + leader
                        + ", which is outside the job; end it first"))
                .namespacePid();
    }

    private int foreground(int group) {
        for (StoppedProcess process : scope.processes()) {
            if (group > 0 && Integer.parseInt(Proc.stat(process.pid())[GROUP]) == group) {
                return process.namespaceGroup();
            }
        }
        return 0;
    }

    private static int major(Files.Stat stat) {
        return (int) (stat.rawDevice() >> 8 & 0xfff);
    }

    private static int minor(Files.Stat stat) {
        return (int) (stat.rawDevice() & 0xff | stat.rawDevice() >> 12 & 0xfff00);
    }
}
