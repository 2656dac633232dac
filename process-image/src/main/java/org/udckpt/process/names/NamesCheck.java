package org.udckpt.process.names;

import java.nio.charset.StandardCharsets;
import org.udckpt.linux.Folder;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.KernelObject.UnixSocket;

/** Whether all names of a job could be made: asked by a restart before anything is made, and by its plan. */
public final class NamesCheck {
    private NamesCheck() {}

    /** @throws NameRefused naming the first that could not */
    public static void check(JobImage image) {
        OwnDirectories directories = new OwnDirectories(image);
        OpenFiles open = new OpenFiles();
        for (NewName name : new NewNames(image).all()) {
            try (Folder folder = directories.check("", name.directory(), name.shown())) {
                if (folder != null) {
                    Occupant.check(folder, name, open);
                }
            }
        }
        for (var object : image.objects()) {
            if (object instanceof UnixSocket socket && socket.name().length > 0 && socket.name()[0] == 0) {
                abstractName(socket.name());
            }
        }
    }

    /** Names of which no file tells (unix(7)); this network namespace has each once. @throws NameRefused somebody has it */
    public static void abstractName(byte[] name) {
        String holder = Holders.still(() -> Holders.ofAbstractName(name));
        if (holder != null) {
            throw new NameRefused(NameRefused.Reason.IN_USE, "the abstract unix socket name " + new String(name, StandardCharsets.UTF_8).replace('\0', '@')
                    + ", which the job had, is in use by " + holder + "; end that first");
        }
    }
}
