package org.udckpt.lifecycle.checkpoint;

import java.nio.charset.StandardCharsets;
import org.udckpt.image.ImageError;
import org.udckpt.image.write.PartOrder;

/**
 * What a unit is told of a checkpoint with SUSPEND, as text.
 *
 * @param part what it writes, and where
 * @param last the ranks are to do nothing any more: they stand still from the copy on until the job is ended, or the
 *     checkpoint is given up
 */
public record UnitOrder(PartOrder part, boolean last) {
    private static final String LAST = "last ";

    public String encode() {
        return (last ? LAST : "") + new String(part.encode(), StandardCharsets.US_ASCII);
    }

    /** @throws ImageError.Corrupt if {@link #encode} gives nothing like it */
    public static UnitOrder decode(String text) throws ImageError {
        boolean last = text.startsWith(LAST);
        return new UnitOrder(
                PartOrder.decode(text.substring(last ? LAST.length() : 0).getBytes(StandardCharsets.US_ASCII)), last);
    }
}
