package org.udckpt.process.kinds.mount;

import org.udckpt.fuzz.Fuzzes;
import org.udckpt.linux.RawText;
import org.udckpt.process.model.OverlayLayer;

/** The options of an overlay that a job has mounted, as mountinfo or an image has them. */
@Fuzzes(OverlayOptions.class)
public final class OverlayOptionsFuzz {
    private OverlayOptionsFuzz() {}

    /** Layers are absolute and lead nowhere upwards, and what is given to mount(2) with other layers has only those. */
    public static void fuzzerTestOneInput(byte[] input) {
        String settings = RawText.decode(input);
        OverlayOptions options = OverlayOptions.of(settings);
        for (OverlayOptions.Layer layer : options.layers()) {
            if (!layer.path().startsWith("/") || (layer.path() + "/").contains("/../")) {
                throw new AssertionError(layer.toString());
            }
        }
        OverlayOptions.isReadOnly(settings);
        OverlayOptions.data(settings);
        if (OverlayOptions.data(settings, options.layers()).split("(^|,)" + OverlayLayer.UPPER + "=").length > 2
                && options.layers().stream().filter(layer -> layer.option().equals(OverlayLayer.UPPER)).count() < 2
                && options.refusal() == null) {
            throw new AssertionError("another upper directory: " + settings);
        }
    }
}
