package org.udckpt.process.kinds.pipe;

import java.util.function.UnaryOperator;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.JobName;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.RowCheck;
import org.udckpt.process.names.NewName;

/** The buffer between the ends of a pipe or FIFO: captured and restored with them. */
public final class PipeKind implements ObjectKind<Pipe> {
    private static final int OWNERS = 0600, NOT_KNOWN = -1;
    private static final int PIPE_BYTES = 1 << 16; // of one whose capacity nobody has chosen (pipe(7))

    @Override
    public Class<Pipe> record() {
        return Pipe.class;
    }

    @Override
    public String shown(Pipe pipe) {
        return pipe.path() == null ? "" : pipe.path();
    }

    @Override
    public Pipe moved(Pipe pipe, UnaryOperator<String> moves) {
        return pipe.path() == null ? pipe
                : new Pipe(pipe.id(), moves.apply(pipe.path()), pipe.capacity(), pipe.contents());
    }

    @Override
    public NewName name(Pipe pipe, JobName former, ProcessState user) {
        if (pipe.path() == null) {
            return null;
        }
        return former instanceof JobName.Fifo fifo
                ? new NewName(NewName.Kind.FIFO, pipe.path(), fifo.mode(), fifo.uid(), fifo.gid())
                : new NewName(NewName.Kind.FIFO, pipe.path(), OWNERS, NOT_KNOWN, NOT_KNOWN);
    }

    @Override
    public void check(Pipe pipe, RowCheck row, CheckedImage image) throws BrokenTable {
        if (pipe.path() != null) {
            row.text("path", pipe.path());
        }
        row.between(0, 1 << 30, "capacity", pipe.capacity());
        // What does not fit would be waited for, and nobody reads.
        row.bytes("contents", pipe.contents(), 0, pipe.capacity() > 0 ? pipe.capacity() : PIPE_BYTES, 1);
    }
}
