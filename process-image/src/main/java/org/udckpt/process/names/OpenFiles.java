package org.udckpt.process.names;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.Files;
import org.udckpt.linux.Proc;

/**
 * Which files with a name are open or mapped shared in any process that this user sees, as /proc shows it when it is
 * first asked: one walk through all processes, however many names are looked for. A file system is asked only about a
 * file that has the name in question.
 */
public final class OpenFiles {
    private static final int ACCESS = 3, MAPPED = -1;
    private static final int OWN = (int) ProcessHandle.current().pid();
    private static final String NETWORK = Files.readLink("/proc/self/ns/net");

    /**
     * @param path       by which it can be looked at
     * @param descriptor its number, of which the rest is not known without a look; or {@link #MAPPED}
     */
    private record Use(int pid, String path, int descriptor, long inode, boolean writable) {
        boolean isOf(Files.Stat file) {
            Files.Stat now = Files.tryStat(path);
            // A mapped file may have lost the name by which it could be examined. Its inode number alone is not what
            // stat(2) says on every file system.
            return now == null ? descriptor == MAPPED && inode == file.inode() : now.isSame(file);
        }

        boolean writes() {
            return descriptor == MAPPED ? writable
                    : (Integer.parseInt(Proc.field(Proc.whole("/proc/" + pid + "/fdinfo/" + descriptor), "flags:"), 8)
                            & ACCESS) != 0;
        }
    }

    /** By the last part of the name. */
    private Map<String, List<Use>> uses;

    /** A process that uses this file: {@code process 12 (name)}; null: none. */
    String holder(String name, Files.Stat file) {
        for (Use use : uses(name)) {
            if (use.isOf(file)) {
                return Holders.named(use.pid);
            }
        }
        return null;
    }

    /**
     * The number of a process, not this one, that has this file open or mapped shared; 0: there is none that this user
     * sees.
     */
    public int user(String name, Files.Stat file) {
        return uses(name).stream().filter(use -> use.pid != OWN && use.isOf(file)).mapToInt(Use::pid).findFirst()
                .orElse(0);
    }

    /**
     * A process that has this file open for writing, or mapped shared and writable; null: none but this process.
     * Processes in other network namespaces are treated as processes of other hosts, which are unknown as well.
     */
    public String writer(String name, Files.Stat file) {
        for (Use use : uses(name)) {
            boolean writes = Holders.ofProcess(use.pid, pid -> pid != OWN && use.isOf(file) && use.writes()
                    && NETWORK.equals(Files.readLink("/proc/" + pid + "/ns/net")));
            if (writes) {
                return Holders.named(use.pid);
            }
        }
        return null;
    }

    private List<Use> uses(String name) {
        if (uses == null) {
            uses = new HashMap<>();
            for (int pid : Proc.numbers("/proc")) {
                Holders.ofProcess(pid, this::read);
            }
        }
        return uses.getOrDefault(name, List.of());
    }

    /** The next question is answered anew. */
    public void forget() {
        uses = null;
    }

    private boolean read(int pid) {
        for (int fd : Proc.descriptors(pid)) {
            String path = "/proc/" + pid + "/fd/" + fd;
            String link = Files.readLink(path);
            if (link != null && link.startsWith("/")) {
                add(link, new Use(pid, path, fd, 0, false));
            }
        }
        for (String line : Proc.text("/proc/" + pid + "/maps").split("\n")) {
            // address, permissions, offset, device, inode, path
            int path = line.indexOf(" /");
            if (path > 0 && line.charAt(line.indexOf(' ') + 4) == 's') {
                String[] words = line.substring(0, path).strip().split("\\s+");
                String through = "/proc/" + pid + "/root" + line.substring(path + 1);
                add(line.substring(path + 1),
                        new Use(pid, through, MAPPED, Long.parseUnsignedLong(words[4]), words[1].charAt(1) == 'w'));
            }
        }
        return false;
    }

    private void add(String path, Use use) {
        uses.computeIfAbsent(path.substring(path.lastIndexOf('/') + 1), _ -> new ArrayList<>()).add(use);
    }
}
