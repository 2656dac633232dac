package org.udckpt.process.names;

import java.util.List;
import org.udckpt.linux.Folder;
import org.udckpt.process.model.JobImage;

/** Whether all names of a job could be made: asked by a restart before anything is made, and by its plan. */
public final class NamesCheck {
    private NamesCheck() {}

    /** @throws NameRefused naming the first that could not */
    public static void check(JobImage image, List<NewName> names) {
        OwnDirectories directories = new OwnDirectories(image);
        OpenFiles open = new OpenFiles();
        for (NewName name : names) {
            try (Folder folder = directories.check("", name.directory(), name.shown())) {
                if (folder != null) {
                    Occupant.check(folder, name, open);
                }
            }
        }
    }
}
