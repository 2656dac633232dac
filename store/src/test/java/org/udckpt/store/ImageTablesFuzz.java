package org.udckpt.store;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import org.udckpt.fuzz.Fuzzes;
import org.udckpt.image.ImageError;
import org.udckpt.image.table.RecordTable;
import org.udckpt.process.model.Descriptor;
import org.udckpt.process.model.InotifyWatch;
import org.udckpt.process.model.JobFile;
import org.udckpt.process.model.PacketSocket;
import org.udckpt.process.model.PosixTimer;
import org.udckpt.process.model.Privileges;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.Region;
import org.udckpt.process.model.TcpSocket;
import org.udckpt.process.model.TerminalObject;
import org.udckpt.process.model.ThreadState;
import org.udckpt.process.model.VectorLayout;

/** The tables of an image about processes and what is around them: the first byte says which. */
@Fuzzes({ImageTables.class, StateTables.class})
public final class ImageTablesFuzz {
    static final List<RecordTable<?>> TABLES = List.of(RecordTable.of(JobRow.class), RecordTable.of(PmiRow.class),
            RecordTable.of(AddressRow.class), RecordTable.of(AgentRow.class),
            RecordTable.of(PeerRow.class), RecordTable.of(StopTimesRow.class), RecordTable.of(CallRow.class),
            RecordTable.of(RankRow.class), RecordTable.of(MemoryRow.class),
            RecordTable.of(ProcessState.class), RecordTable.of(ThreadState.class), RecordTable.of(Region.class),
            RecordTable.of(Descriptor.class), ImageTables.OBJECT_TABLE,
            RecordTable.of(PosixTimer.class), RecordTable.of(VectorLayout.class), RecordTable.of(TcpSocket.class),
            RecordTable.of(TerminalObject.class),
            RecordTable.of(InotifyWatch.class), RecordTable.of(Privileges.class), RecordTable.of(PacketSocket.class),
            RecordTable.of(JobFile.class));
    private static final Path FILE = Path.of("/checkpoints/ckpt-0002/node-0000.odd.arrow");

    private ImageTablesFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        if (input.length == 0) {
            return;
        }
        try {
            TABLES.get(Byte.toUnsignedInt(input[0]) % TABLES.size())
                    .decode(ByteBuffer.wrap(input, 1, input.length - 1).slice(), FILE);
        } catch (ImageError e) {
            // as promised
        }
    }
}
