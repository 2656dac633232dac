package org.udckpt.process.kinds.deleted;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import org.udckpt.linux.Files;
import org.udckpt.linux.User;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.kinds.base.StoppedProcess;

/** Reads which directories without a name are open, and which processes work in one. */
final class DeletedDirectoryCapture implements KindCapture {
    private record Place(long device, long inode) {}

    private final CaptureScope scope;
    private final Map<Place, Long> known = new HashMap<>();

    DeletedDirectoryCapture(CaptureScope scope) {
        this.scope = scope;
    }

    @Override
    public boolean takesHandles() {
        return true;
    }

    @Override
    public boolean takes(OpenDescriptor open) {
        return open.deletedDirectory();
    }

    @Override
    public long read(OpenDescriptor open) {
        long directory = directory(open.proc(), open.name(), open.stat(), open::refuse);
        long id = scope.table().newId();
        scope.table().add(new OpenDeletedDirectory(id, open.name(), open.openFlags(),
                open.onlyNames() ? 0 : open.position(), directory));
        return id;
    }

    @Override
    public void finish() {
        scope.processes().stream().filter(StoppedProcess::workingDirectoryDeleted).forEach(this::entered);
    }

    private void entered(StoppedProcess process) {
        String through = "/proc/" + process.task() + "/cwd";
        long directory = directory(through, OpenDescriptor.name(Files.readLink(through)), Files.stat(through),
                process::refuse);
        scope.table()
                .add(new DeletedWorkingDirectory(scope.table().newId(), process.namespacePid(), directory));
    }

    /** Its object. @param through a link of /proc that leads to it; @param path that it had */
    private long directory(String through, String path, Files.Stat stat, Function<String, RuntimeException> refusal) {
        Place place = new Place(stat.device(), stat.inode());
        Long before = known.get(place);
        if (before != null) {
            return before;
        }
        if (User.id() != 0 && stat.uid() != User.id()) {
            throw refusal.apply("the deleted directory " + path + " belongs to user " + stat.uid() + ", for whom this "
                    + "user cannot make it again; close it, or leave it (chdir(2)), first");
        }
        long above = above(through + "/..", path, refusal);
        long id = scope.table().newId();
        scope.table().add(new DeletedDirectory(id, path, stat.mode() & 07777, stat.uid(), stat.gid(), stat.modified(),
                above));
        known.put(place, id);
        return id;
    }

    /** 0: that one has its name, or cannot be reached from within by anybody, as the directory cannot be searched. */
    private long above(String through, String path, Function<String, RuntimeException> refusal) {
        Files.Stat stat = Files.tryStat(through);
        int slash = path.lastIndexOf('/');
        return stat == null || stat.links() != 0 || slash <= 0 ? 0
                : directory(through, path.substring(0, slash), stat, refusal);
    }
}
