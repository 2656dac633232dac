package org.udckpt.process.kinds.mount;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.udckpt.linux.MountLine;
import org.udckpt.process.model.OverlayLayer;

/**
 * The options of an overlay, as mountinfo has them.
 *
 * @param layers the directories, uppermost first
 * @param refusal why a restart could not mount it with these; null: it can
 */
record OverlayOptions(List<Layer> layers, String refusal) {
    static final String OVERLAY = "overlay";
    private static final String READ_ONLY = "ro";

    /** @param relative the name did not begin with a slash, and led from the mounter's working directory */
    record Layer(String option, String path, boolean relative) {}

    static OverlayOptions of(String settings) {
        List<Layer> layers = new ArrayList<>();
        String refusal = null;
        for (String text : settings.split(",")) {
            String option = MountLine.unescaped(text), key = key(option), value = option.substring(
                    Math.min(option.length(), key.length() + 1));
            boolean lower = key.equals("lowerdir") || key.equals("lowerdir+"), work = key.equals(OverlayLayer.WORK);
            if (key.equals("datadir+") || lower && value.contains("::")) {
                refusal = "has layers of data only";
            } else if (lower || work || key.equals(OverlayLayer.UPPER)) {
                if (value.indexOf('\\') >= 0 || value.indexOf(',') >= 0) {
                    refusal = "has a layer whose name has a comma, colon or backslash in it (" + value + ")";
                }
                for (String path : lower ? value.split(":") : new String[]{value}) {
                    String whole = whole(path);
                    refusal = whole == null ? "has a layer whose name has .. in it (" + value + ")" : refusal;
                    layers.add(new Layer(lower ? OverlayLayer.LOWER : key, whole == null ? "/" : whole,
                            !path.startsWith("/")));
                }
            }
        }
        layers.sort((a, b) -> rank(a) - rank(b));
        return new OverlayOptions(layers, refusal);
    }

    /** The name without what does not count; null: it leads upwards. */
    private static String whole(String path) {
        List<String> names = new ArrayList<>(List.of(path.split("/")));
        names.removeIf(name -> name.isEmpty() || name.equals("."));
        return names.contains("..") ? null : "/" + String.join("/", names);
    }

    private static String key(String option) {
        int equals = option.indexOf('=');
        return equals < 0 ? option : option.substring(0, equals);
    }

    private static int rank(Layer layer) {
        return List.of(OverlayLayer.UPPER, OverlayLayer.WORK, OverlayLayer.LOWER).indexOf(layer.option);
    }

    /** What mount(2) is given: a string that mountinfo shows as {@code settings}. */
    static String data(String settings) {
        List<String> given = new ArrayList<>();
        for (String text : settings.split(",")) {
            if (!text.equals("rw") && !text.equals(READ_ONLY) && !text.isEmpty()) {
                given.add(MountLine.unescaped(text));
            }
        }
        return String.join(",", given);
    }

    /** The same with other layers. */
    static String data(String settings, List<Layer> layers) {
        List<String> given = new ArrayList<>();
        for (String option : data(settings).split(",")) {
            String key = key(option);
            if (!key.startsWith("lowerdir") && !key.equals(OverlayLayer.UPPER) && !key.equals(OverlayLayer.WORK)) {
                given.add(option);
            }
        }
        List<String> lower = new ArrayList<>();
        for (Layer layer : layers) {
            if (layer.option.equals(OverlayLayer.LOWER)) {
                lower.add(layer.path);
            } else {
                given.add(layer.option + "=" + layer.path);
            }
        }
        given.add(OverlayLayer.LOWER + "=" + String.join(":", lower));
        return String.join(",", given);
    }

    /**
     * Without what the kernel shows of an overlay that has only lower layers, although nobody may give it in a user
     * namespace: that redirections are followed, where the machine's overlays do so by themselves.
     *
     * @param data with these layers, or others
     */
    static String withoutShown(String settings, String data) {
        List<String> given = new ArrayList<>(List.of(data.split(",")));
        if (Stream.of(settings.split(",")).noneMatch(option -> key(option).equals(OverlayLayer.UPPER))) {
            given.remove("redirect_dir=on");
        }
        return String.join(",", given);
    }

    static boolean isReadOnly(String settings) {
        return List.of(settings.split(",")).contains(READ_ONLY);
    }
}
