package org.udckpt.process.capture;

import java.util.List;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.process.model.Zombie;

/** Children that have ended and that their stopped parents have not waited for yet. */
final class Zombies {
    private static final int PARENT = 4 - 3, EXIT_CODE = 52 - 3;

    private Zombies() {}

    static void read(RankCapture rank, List<Zombie> into) {
        for (int pid : rank.zombies()) {
            String[] stat;
            String status;
            try {
                stat = Proc.stat(pid);
                status = Proc.text("/proc/" + pid + "/status");
            } catch (LinuxError gone) {
                if (gone.errno() != LinuxError.ENOENT && gone.errno() != LinuxError.ESRCH) {
                    throw gone;
                }
                continue; // a parent that ignores SIGCHLD has no zombies: it went when it ended
            }
            for (TracedProcess parent : rank.processes()) {
                if (parent.pid == Integer.parseInt(stat[PARENT])) {
                    into.add(new Zombie(ThreadReader.last(Proc.field(status, "NSpid:")), parent.namespacePid, ThreadReader.last(Proc.field(status, "NSpgid:")),
                            ThreadReader.last(Proc.field(status, "NSsid:")), Proc.field(status, "Name:"), Integer.parseInt(stat[EXIT_CODE])));
                }
            }
        }
    }
}
