package org.udckpt.process.names;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;

/**
 * Which files with a name are open or mapped shared in any process that this user sees, as /proc shows it when it is first asked: one walk through all
 * processes, however many names are looked for. A file system is asked only about a file that has the name in question.
 */
final class OpenFiles {
    /** @param path by which it can be looked at; {@code inode} 0: not known without a look */
    private record Use(int pid, String path, long inode) {}

    /** By the last part of the name. */
    private Map<String, List<Use>> uses;

    /** Who uses this file: {@code process 12 (name)}; null: nobody. */
    String holder(String name, Files.Stat file) {
        if (uses == null) {
            uses = new HashMap<>();
            for (int pid : Proc.numbers("/proc")) {
                Holders.ofProcess(pid, this::read);
            }
        }
        for (Use use : uses.getOrDefault(name, List.of())) {
            Files.Stat now = use.inode == 0 || use.inode == file.inode() ? Files.tryStat(use.path) : null;
            boolean same = now == null ? use.inode == file.inode() : now.isSame(file); // a mapped file may be where only its process sees it
            if (same) {
                return Holders.named(use.pid);
            }
        }
        return null;
    }

    /** The next question is answered anew. */
    void forget() {
        uses = null;
    }

    private boolean read(int pid) {
        for (int fd : Proc.descriptors(pid)) {
            String path = "/proc/" + pid + "/fd/" + fd;
            String link = Files.readLink(path);
            if (link != null && link.startsWith("/")) {
                add(link, new Use(pid, path, 0));
            }
        }
        for (String line : Proc.text("/proc/" + pid + "/maps").split("\n")) { // address, permissions, offset, device, inode, path
            int path = line.indexOf(" /");
            if (path > 0 && line.charAt(line.indexOf(' ') + 4) == 's') {
                String[] words = line.substring(0, path).strip().split("\\s+");
                add(line.substring(path + 1), new Use(pid, "/proc/" + pid + "/root" + line.substring(path + 1), Long.parseLong(words[4])));
            }
        }
        return false;
    }

    private void add(String path, Use use) {
        uses.computeIfAbsent(path.substring(path.lastIndexOf('/') + 1), _ -> new ArrayList<>()).add(use);
    }
}
