package org.udckpt.process.kinds.terminal;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;
import org.udckpt.process.model.TerminalObject.Terminal;
import org.udckpt.process.model.TerminalObject.TerminalEnd;

/** Pseudo-terminals (pty(7)): captured and restored with their ends. */
public final class TerminalKind implements ObjectKind<Terminal> {
    @Override
    public Class<Terminal> record() {
        return Terminal.class;
    }

    @Override
    public String shown(Terminal terminal) {
        return "/dev/pts/" + terminal.number();
    }

    @Override
    public void check(Terminal terminal, RowCheck row, CheckedImage image) throws BrokenTable {
        row.between(0, 1 << 20, "number", terminal.number());
        row.bytes("modes", terminal.modes(), 44, 44, 1);
        row.bytes("window", terminal.window(), 8, 8, 1);
        row.notNegative("session", terminal.session());
        row.notNegative("foreground", terminal.foreground());
        row.notNull("output", terminal.output());
        row.notNull("input", terminal.input());
        long masters =
                image.image()
                        .terminals()
                        .stream()
                        .filter(one -> one instanceof TerminalEnd end && end.master()
                                && end.terminal() == terminal.id())
                        .count();
        row.require(masters == 1, "terminal %d has %d masters, expected 1", terminal.id(), masters);
    }
}
