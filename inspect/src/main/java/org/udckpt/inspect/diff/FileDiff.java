package org.udckpt.inspect.diff;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.process.model.JobFile.RegularFile;
import org.udckpt.process.model.JobImage;

/**
 * One of the job's files in two checkpoints.
 *
 * @param older null: it is new
 * @param newer null: it is gone
 */
public record FileDiff(RegularFile older, RegularFile newer, PageCounts pages) {
    interface Comparer {
        /** @param before id of the content, 0: none; {@code after} too */
        PageCounts compare(long before, long after);
    }

    /** By path. A file that is mapped, too, is a shared object as well: its content is counted there. */
    static List<FileDiff> of(JobImage older, JobImage newer, Comparer comparer) {
        Map<String, RegularFile> before = files(older);
        Map<String, RegularFile> after = files(newer);
        List<FileDiff> diffs = new ArrayList<>();
        before.forEach((path, file) -> {
            RegularFile other = after.remove(path);
            diffs.add(new FileDiff(file, other, comparer.compare(file.id(), other == null ? 0 : other.id())));
        });
        after.values().forEach(file -> diffs.add(new FileDiff(null, file, comparer.compare(0, file.id()))));
        return List.copyOf(diffs);
    }

    private static Map<String, RegularFile> files(JobImage image) {
        Map<String, RegularFile> files = new LinkedHashMap<>();
        image.files().forEach(file -> {
            if (file instanceof RegularFile regular
                    && image.objects().stream().noneMatch(object -> object.id() == regular.id())) {
                files.put(regular.path(), regular);
            }
        });
        return files;
    }

    /** The newer one, or the one that is gone. */
    public RegularFile present() {
        return newer != null ? newer : older;
    }

    /** Same length, same content. */
    public boolean isSame() {
        return older != null && newer != null && older.size() == newer.size() && pages.quiet();
    }
}
