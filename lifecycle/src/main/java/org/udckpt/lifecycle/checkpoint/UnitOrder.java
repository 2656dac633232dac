package org.udckpt.lifecycle.checkpoint;

import java.nio.charset.StandardCharsets;
import org.udckpt.image.ImageError;
import org.udckpt.image.write.PartOrder;

/**
 * What a unit is told of a checkpoint with SUSPEND, as text.
 *
 * @param part what it writes, and where
 * @param stop how the ranks stop
 */
public record UnitOrder(PartOrder part, StopOptions stop) {
    private static final String LAST = "last ", DETACH_DEBUGGERS = "detach-debuggers ";

    public String encode() {
        return (stop.last() ? LAST : "") + (stop.detachDebuggers() ? DETACH_DEBUGGERS : "")
                + new String(part.encode(), StandardCharsets.US_ASCII);
    }

    /** @throws ImageError.Corrupt if {@link #encode} gives nothing like it */
    public static UnitOrder decode(String text) throws ImageError {
        boolean last = text.startsWith(LAST);
        String rest = text.substring(last ? LAST.length() : 0);
        boolean detach = rest.startsWith(DETACH_DEBUGGERS);
        byte[] part = rest.substring(detach ? DETACH_DEBUGGERS.length() : 0).getBytes(StandardCharsets.US_ASCII);
        return new UnitOrder(PartOrder.decode(part), new StopOptions(last, detach));
    }
}
