package org.udckpt.store;

import java.io.IOException;
import java.nio.file.Path;
import org.udckpt.image.ImageNames;
import org.udckpt.linux.Files;
import org.udckpt.linux.Folder;
import org.udckpt.linux.Trust;
import org.udckpt.process.names.OpenFiles;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.Messages;
import org.udckpt.support.runtime.JobRecord;
import org.udckpt.support.runtime.RuntimeDirectory;

/** Finds the holder of a checkpoint, for messages: a job, or another process that reads it. */
public final class CheckpointUsers {
    private final Settings settings;

    public CheckpointUsers(Settings settings) {
        this.settings = settings;
    }

    /** {@code job heat (process 12) ...}; {@code process 12 (java) ...}; or that it is none that can be seen here. */
    public String of(Path checkpoint) {
        try (Folder folder = Folder.reach(checkpoint.toString(), Trust.ANY)) {
            Files.Stat manifest = folder.stat(ImageNames.MANIFEST);
            int pid = manifest == null ? 0 : new OpenFiles().user(ImageNames.MANIFEST, manifest);
            if (pid == 0) {
                return "a process in another container or namespace reads it, or its job would be restarted from it";
            }
            String job = job(pid);
            return job == null ? "process " + pid + " reads it, or restarts a job from it"
                    : "job " + job + " (process " + pid + ") reads it, or would be restarted from it";
        }
    }

    private String job(int pid) {
        for (RuntimeDirectory runtime : RuntimeDirectory.all(settings)) {
            try {
                if (JobRecord.read(runtime.path()).agentPid() == pid) {
                    return runtime.name();
                }
            } catch (IOException e) {
                Messages.debugTrace(runtime + " ended while it was looked at", e);
            }
        }
        return null;
    }
}
