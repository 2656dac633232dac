package org.udckpt.process.restore;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.udckpt.layout.Layout;
import org.udckpt.process.model.Region;
import org.udckpt.process.trace.ElfSymbols;

/**
 * Environment variables that are others from now on. A process has them in its own memory, wherever it has put them:
 * they are left with the preloaded library, and it puts them in when the program asks for a variable
 * (interposer_environment.c).
 */
public final class NewEnvironment {
    private static final String LIBRARY = "/libudckpt.so", SYMBOL = "udckpt_new_environment";
    /** Most bytes of all variables, with a NUL behind each. */
    public static final int MOST_BYTES = Layout.NewEnvironment.SIZE - Layout.NewEnvironment.TEXT;

    private final byte[] text;
    private final RestoreTarget target;
    private final LazyProcesses lazy;

    /** @param target has them, as NAME=VALUE, {@link #MOST_BYTES} in all */
    NewEnvironment(RestoreTarget target, LazyProcesses lazy) {
        this.target = target;
        this.lazy = lazy;
        this.text = target.environment().stream().map(variable -> variable + "\0").collect(Collectors.joining())
                .getBytes(StandardCharsets.UTF_8);
    }

    /** When the process's memory is in place. */
    void give(Tracee tracee, List<Region> regions) {
        if (text.length == 0) {
            return;
        }
        for (Region region : regions) {
            if (region.path().endsWith(LIBRARY) && region.fileOffset() == 0) {
                long symbol = ElfSymbols.find(Path.of(region.path()), SYMBOL);
                if (symbol < 0) {
                    throw tracee.unsupported("its " + region.path() + " belongs to a version that cannot change "
                            + "environment variables: restart the job without --env");
                }
                ByteBuffer record =
                        ByteBuffer.allocate(Layout.NewEnvironment.TEXT + text.length).order(ByteOrder.LITTLE_ENDIAN);
                record.putLong(Layout.NewEnvironment.LENGTH, text.length).put(Layout.NewEnvironment.TEXT, text);
                long at = region.start() + symbol;
                lazy.need(tracee, at & -4096L, at + record.capacity());
                tracee.memory().writeBytes(at, record.array());
                return;
            }
        }
        target.warn(tracee.name() + " has no libudckpt.so (a static program?): --env does not reach it");
    }
}
