package org.udckpt.picture;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.udckpt.linux.LinuxError;

/**
 * What /proc and system calls say of every process of a tree, as lines that can be compared with those of another
 * moment: each has a subject ("112/113 status Umask") and says one thing of it. The tree should stand still meanwhile.
 * Numbers that only name a kernel object (of a socket, a pipe, an epoll) are counted anew in each picture, so that who
 * shares what is compared and the number is not; processes have the numbers that they know themselves.
 */
public final class Picture {
    private final Map<String, List<String>> lines = new TreeMap<>();
    private final Map<String, String> names = new HashMap<>();
    private final DescriptorLines.Descriptions descriptions = new DescriptorLines.Descriptions();
    private final NetworkLines networks = new NetworkLines();
    private final Pids pids;
    private final Predicate<String> launchers;

    private Picture(Collection<Integer> hostPids, Predicate<String> launchers) {
        pids = new Pids(hostPids);
        this.launchers = launchers;
    }

    /**
     * @param hostPids all processes of the tree, as this process numbers them
     * @param launchers whether a link of /proc/PID/fd is to a standard stream of who has launched the tree, which
     *     belongs to another one after a restart
     */
    public static Picture of(Collection<Integer> hostPids, Predicate<String> launchers) {
        Picture picture = new Picture(hostPids, launchers);
        try (NetworkLines networks = picture.networks) {
            picture.look(networks);
        }
        return picture;
    }

    private void look(NetworkLines networks) {
        pids.tree().forEach(pid -> networks.add(this, pid));
        for (int pid : pids.tree()) {
            try {
                TaskLines.add(this, pid);
                MappingLines.add(this, pid);
                DescriptorLines.add(this, pid);
            } catch (LinuxError failure) {
                throw new IllegalStateException("process " + pid + " cannot be looked at: " + failure.getMessage(),
                        failure);
            }
        }
    }

    void add(String subject, String said) {
        lines.computeIfAbsent(subject, _ -> new ArrayList<>()).add(said);
    }

    NetworkLines networks() {
        return networks;
    }

    Pids pids() {
        return pids;
    }

    boolean launchers(String link) {
        return launchers.test(link);
    }

    /** The same short name whenever this picture meets that object. */
    String name(String kind, Object number) {
        String key = kind + " " + number;
        String known = names.get(key);
        if (known == null) {
            names.put(key,
                    known = "#" + (names.keySet().stream().filter(one -> one.startsWith(kind + " ")).count() + 1));
        }
        return known;
    }

    /** The same name for descriptors of the same open file description. */
    String description(int pid, int fd, String link) {
        return descriptions.name(pid, fd, link);
    }

    /** All lines, for who wants to read them. */
    public List<String> text() {
        List<String> text = new ArrayList<>();
        lines.forEach((subject, said) -> said.forEach(one -> text.add(subject + ": " + one)));
        return text;
    }

    /** What differs and may not: each with the subject and both sides. */
    public static List<String> differences(Picture before, Picture after, List<MayDiffer> may) {
        Map<String, List<String>> left = remaining(before, may);
        Map<String, List<String>> right = remaining(after, may);
        List<String> found = new ArrayList<>();
        TreeMap<String, List<String>> all = new TreeMap<>(left);
        all.putAll(right);
        for (String subject : all.keySet()) {
            List<String> was = new ArrayList<>(left.getOrDefault(subject, List.of()));
            List<String> is = new ArrayList<>(right.getOrDefault(subject, List.of()));
            List<String> both = new ArrayList<>(was);
            both.removeIf(line -> !is.remove(line));
            both.forEach(was::remove);
            if (!was.isEmpty() || !is.isEmpty()) {
                found.add(subject + ": was " + String.join(" | ", was) + "; is " + String.join(" | ", is));
            }
        }
        return found;
    }

    /** Without the parts that may differ. */
    private static Map<String, List<String>> remaining(Picture picture, List<MayDiffer> may) {
        Map<String, List<String>> remaining = new TreeMap<>();
        picture.lines.forEach((subject, said) -> {
            List<String> kept = new ArrayList<>();
            for (String one : said) {
                String rest = one;
                for (MayDiffer rule : may) {
                    rest = rest == null ? null : rule.without(subject, rest);
                }
                if (rest != null) {
                    kept.add(rest);
                }
            }
            if (!kept.isEmpty()) {
                remaining.put(subject, kept);
            }
        });
        return remaining;
    }
}
