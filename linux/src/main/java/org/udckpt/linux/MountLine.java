package org.udckpt.linux;

import static org.udckpt.linux.LinuxConstants.MOUNT_ATTR_NOATIME;
import static org.udckpt.linux.LinuxConstants.MOUNT_ATTR_NODEV;
import static org.udckpt.linux.LinuxConstants.MOUNT_ATTR_NODIRATIME;
import static org.udckpt.linux.LinuxConstants.MOUNT_ATTR_NOEXEC;
import static org.udckpt.linux.LinuxConstants.MOUNT_ATTR_NOSUID;
import static org.udckpt.linux.LinuxConstants.MOUNT_ATTR_NOSYMFOLLOW;
import static org.udckpt.linux.LinuxConstants.MOUNT_ATTR_RDONLY;
import static org.udckpt.linux.LinuxConstants.MOUNT_ATTR_STRICTATIME;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A line of mountinfo (proc_pid_mountinfo(5)).
 *
 * @param device as {@link Files.Stat#device} has it
 * @param root of the mount within its file system
 * @param attributes MOUNT_ATTR_ of mount_setattr(2)
 * @param group of peers, 0: none
 * @param master the group from which it receives mounts, 0: none
 * @param source what was mounted
 * @param options of the file system
 */
public record MountLine(int id, int parent, long device, String root, String point, int attributes, int group,
        int master, boolean unbindable, String type, String source, String options) {
    private static final Pattern OCTAL = Pattern.compile("\\\\([0-7]{3})");

    /** The same on another mount. */
    public MountLine on(int other) {
        return other == parent ? this
                : new MountLine(id, other, device, root, point, attributes, group, master, unbindable, type, source,
                        options);
    }

    /** All lines of such a file. */
    public static List<MountLine> parse(String text) {
        List<MountLine> lines = new ArrayList<>();
        for (String line : text.split("\n")) {
            int behind = line.indexOf(" - ");
            if (behind > 0) {
                lines.add(of(line.substring(0, behind).split(" "), line.substring(behind + 3).split(" ", -1)));
            }
        }
        return lines;
    }

    private static MountLine of(String[] words, String[] behind) {
        String[] device = words[2].split(":");
        List<String> fields = Arrays.asList(words).subList(6, words.length);
        return new MountLine(Integer.parseInt(words[0]), Integer.parseInt(words[1]),
                device(Long.parseLong(device[0]), Long.parseLong(device[1])), unescaped(words[3]), unescaped(words[4]),
                attributes(new HashSet<>(Arrays.asList(words[5].split(",")))), number(fields, "shared:"),
                number(fields, "master:"),
                fields.contains("unbindable"), behind[0], unescaped(behind[1]), behind[2]);
    }

    /** As stat(2) has it (new_encode_dev, with all bits of the major number in their old place). */
    private static long device(long major, long minor) {
        return minor & 0xff | (major & 0xfff) << 8 | (minor & ~0xffL) << 12;
    }

    private static int number(List<String> fields, String key) {
        return fields.stream().filter(field -> field.startsWith(key)).findFirst()
                .map(field -> Integer.parseInt(field.substring(key.length()))).orElse(0);
    }

    private static int attributes(Set<String> options) {
        int attributes = options.contains("ro") ? MOUNT_ATTR_RDONLY : 0;
        attributes |= options.contains("nosuid") ? MOUNT_ATTR_NOSUID : 0;
        attributes |= options.contains("nodev") ? MOUNT_ATTR_NODEV : 0;
        attributes |= options.contains("noexec") ? MOUNT_ATTR_NOEXEC : 0;
        attributes |= options.contains("nodiratime") ? MOUNT_ATTR_NODIRATIME : 0;
        attributes |= options.contains("nosymfollow") ? MOUNT_ATTR_NOSYMFOLLOW : 0;
        return attributes | (options.contains("noatime") ? MOUNT_ATTR_NOATIME
                : options.contains("relatime") ? 0 : MOUNT_ATTR_STRICTATIME);
    }

    /** Spaces and the like are octal there. */
    public static String unescaped(String text) {
        return text.indexOf('\\') < 0 ? text
                : OCTAL.matcher(text).replaceAll(octal -> Matcher
                        .quoteReplacement(String.valueOf((char) Integer.parseInt(octal.group(1), 8))));
    }
}
