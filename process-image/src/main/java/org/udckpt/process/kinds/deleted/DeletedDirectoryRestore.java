package org.udckpt.process.kinds.deleted;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.Files;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.names.NamelessDirectory;
import org.udckpt.process.names.NewName;
import org.udckpt.process.names.PlacedNames;

/**
 * Makes directories under the names that they had, where these are free, opens them, and removes them again when all
 * are open: one may have been in another.
 */
final class DeletedDirectoryRestore implements KindRestore<DeletedDirectory> {
    private static final long UTIME_OMIT = 0x3fff_fffe, SECOND_NS = 1_000_000_000L;

    private final RestoreScope scope;
    private final Map<Long, Maker> users = new HashMap<>();
    private final Map<Long, Integer> modes = new HashMap<>();

    DeletedDirectoryRestore(RestoreScope scope) {
        this.scope = scope;
    }

    @Override
    public void makeTogether() {
        List<DeletedDirectory> all = scope.objects(DeletedDirectory.class); // those above others come first
        if (all.isEmpty()) {
            return;
        }
        findUsers(all);
        Map<Long, NamelessDirectory> named = new LinkedHashMap<>();
        RuntimeException failure = null;
        try {
            all.forEach(directory -> named.put(directory.id(), make(directory, named.get(directory.above()))));
        } catch (RuntimeException e) {
            failure = e;
        }
        for (NamelessDirectory one : List.copyOf(named.values()).reversed()) { // each, whatever becomes of the others
            try {
                one.close();
            } catch (RuntimeException e) {
                failure = failure == null ? e : failure;
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    private void findUsers(List<DeletedDirectory> all) {
        scope.objects(OpenDeletedDirectory.class)
                .forEach(open -> users.putIfAbsent(open.backing(), scope.maker(open.id())));
        scope.objects(DeletedWorkingDirectory.class)
                .forEach(entered -> users.putIfAbsent(entered.backing(), scope.process(entered.pid())));
        all.reversed().stream().filter(directory -> directory.above() != 0)
                .forEach(directory -> users.putIfAbsent(directory.above(), users.get(directory.id())));
    }

    private NamelessDirectory make(DeletedDirectory directory, NamelessDirectory above) {
        Maker maker = users.get(directory.id());
        if (maker == null) {
            throw scope.inconsistent("the image is inconsistent: nobody uses the deleted directory "
                    + directory.path());
        }
        NewName wanted = new NewName(NewName.Kind.DIRECTORY, directory.path(), directory.mode(), directory.uid(),
                directory.gid());
        return scope.placed().makeNamelessDirectory(wanted, above, (path, made) -> open(maker, directory, wanted, path,
                made));
    }

    private long open(Maker maker, DeletedDirectory directory, NewName wanted, String path, Files.Stat made) {
        modes.put(directory.id(), PlacedNames.mode(wanted, made));
        return scope.made().add(maker, directory.id(),
                scope.openMade(maker, path, Syscall.O_RDONLY | Syscall.O_DIRECTORY, made));
    }

    /** Attributes last: a mode may keep its owner out. */
    @Override
    public void connect() {
        scope.objects(DeletedDirectory.class).forEach(this::describe);
    }

    private void describe(DeletedDirectory directory) {
        Maker maker = users.get(directory.id());
        long fd = scope.made().in(maker, directory.id());
        maker.call("chmod " + directory.path(), Syscall.FCHMOD, fd, modes.get(directory.id()));
        long time = directory.modifiedNs();
        // struct timespec[2]
        long times = maker.structure().i64(0).i64(UTIME_OMIT)
                .i64(Math.floorDiv(time, SECOND_NS)).i64(Math.floorMod(time, SECOND_NS)).put();
        maker.call("set the time of " + directory.path(), Syscall.UTIMENSAT, fd, 0, times, 0);
    }
}
