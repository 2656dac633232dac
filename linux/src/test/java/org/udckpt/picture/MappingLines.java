package org.udckpt.picture;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.udckpt.linux.Proc;

/**
 * Of a process's memory: each mapping with its flags (smaps), and NUMA policies (numa_maps). Neighbours that are alike
 * are one, as the kernel may join them.
 */
final class MappingLines {
    private static final List<String> COMPARED =
            List.of("VmFlags", "ProtectionKey", "KernelPageSize", "MMUPageSize", "THPeligible");

    /**
     * VmFlags (docs/internals/attributes.md) that may differ, and do not part neighbours: "ac", memory that counts for
     * the commit limit, which read-only pages of a library do once they have been written, and pages that are mapped
     * anew do not; "sd", soft dirty, a tool's; "um", pages of a lazy restart that are still to come; "uw", what is
     * written is noted; "gu", which stays when the last guard page has gone.
     */
    private static final Set<String> FOLLOW = Set.of("ac", "sd", "um", "uw", "gu");

    private record Mapped(long start, long end, String permissions, long offset, String file,
            Map<String, String> more) {
        boolean goesOn(Mapped next) {
            boolean anonymous = file.isEmpty() || file.startsWith("[");
            return end == next.start && permissions.equals(next.permissions) && file.equals(next.file)
                    && more.equals(next.more)
                    && (anonymous || offset + end - start == next.offset);
        }

        Mapped with(Mapped next) {
            return new Mapped(start, next.end, permissions, offset, file, more);
        }
    }

    private MappingLines() {}

    static void add(Picture picture, int pid) {
        if (Pids.zombie(pid)) {
            return;
        }
        String who = picture.pids().name(pid);
        int task = Proc.living(pid);
        List<Mapped> mappings = mappings(picture, task);
        for (Mapped one : mappings) {
            String about = who + " map %x-%x".formatted(one.start, one.end);
            picture.add(about, one.permissions);
            picture.add(about + " file", one.file.isEmpty() || one.file.startsWith("[") ? one.file
                    : "%s at %x".formatted(one.file, one.offset));
            one.more.forEach((name, said) -> picture.add(about + " " + name, said));
        }
        Set<String> policies = new TreeSet<>(); // each once for a mapping, which has a line for each part
        for (String line : Proc.text("/proc/" + task + "/numa_maps").split("\n")) {
            String[] words = line.split(" ");
            mappings.stream()
                    .filter(one -> one.start <= Long.parseUnsignedLong(words[0], 16)
                            && Long.parseUnsignedLong(words[0], 16) < one.end)
                    .forEach(one -> policies.add("%x %s".formatted(one.start, words[1])));
        }
        policies.forEach(policy -> picture.add(who + " numa_maps", policy));
    }

    private static List<Mapped> mappings(Picture picture, int pid) {
        List<Mapped> found = new ArrayList<>();
        Mapped last = null;
        for (String line : Proc.text("/proc/" + pid + "/smaps").split("\n")) {
            String[] words = line.split("\\s+", 6);
            if (!words[0].endsWith(":")) {
                last = join(found, last);
                String[] range = words[0].split("-");
                String file = words.length > 5 ? words[5] : "";
                String shared = words[4].equals("0") || !file.endsWith("(deleted)") ? file
                        : file + " " + picture.name("memory", words[3] + " " + words[4]);
                last = new Mapped(Long.parseUnsignedLong(range[0], 16), Long.parseUnsignedLong(range[1], 16), words[1],
                        Long.parseLong(words[2], 16), shared, new TreeMap<>());
            } else if (COMPARED.contains(words[0].substring(0, words[0].length() - 1))) {
                String name = words[0].substring(0, words[0].length() - 1);
                String said = line.substring(words[0].length()).strip();
                last.more
                        .put(name,
                                name.equals("VmFlags") ? Stream.of(said.split(" "))
                                        .filter(flag -> !FOLLOW.contains(flag)).collect(Collectors.joining(" "))
                                        : said);
            }
        }
        join(found, last);
        return found;
    }

    private static Mapped join(List<Mapped> found, Mapped one) {
        if (one != null && !found.isEmpty() && found.getLast().goesOn(one)) {
            found.set(found.size() - 1, found.getLast().with(one));
        } else if (one != null) {
            found.add(one);
        }
        return one;
    }
}
