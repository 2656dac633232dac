package org.udckpt.process.model;

/**
 * Pseudo-terminals (pty(7)). Ids are shared with {@link KernelObject}s; a {@link Descriptor} names an end by its id.
 */
public sealed interface TerminalObject {
    long id();

    /**
     * The pair of ends with what is between them.
     *
     * @param number N of /dev/pts/N, which the job keeps
     * @param modes struct termios2, 44 bytes (ioctl_tty(2), TCGETS2)
     * @param window struct winsize, 8 bytes
     * @param locked the slave cannot be opened (TIOCSPTLCK)
     * @param packets the master reads in packet mode (TIOCPKT)
     * @param closed the slave was open once and is not any more: the master reads the rest and then EIO
     * @param session the session that it controls, by its leader's pid in the job's namespace; 0: none
     * @param foreground the process group that reads from it, in the job's namespace; 0: none
     * @param output bytes that were written to the slave, processed, and not read from the master yet
     * @param input bytes that were written to the master, processed, and not read from the slave yet
     */
    record Terminal(long id, int number, byte[] modes, byte[] window, boolean locked, boolean packets, boolean closed,
            int session, int foreground,
            byte[] output, byte[] input) implements TerminalObject {}

    /**
     * An open file.
     *
     * @param terminal id of the {@link Terminal}; 0: a slave whose master was closed (it reads its end and writes EIO)
     * @param flags of open(2) (F_GETFL)
     */
    record TerminalEnd(long id, long terminal, boolean master, int flags) implements TerminalObject {}
}
