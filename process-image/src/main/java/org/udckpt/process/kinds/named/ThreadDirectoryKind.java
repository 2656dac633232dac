package org.udckpt.process.kinds.named;

import static org.udckpt.linux.LinuxConstants.CLONE_FS;

import java.util.HashSet;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** Threads that work in a directory of their own. */
public final class ThreadDirectoryKind implements ObjectKind<ThreadDirectory> {
    @Override
    public Class<ThreadDirectory> record() {
        return ThreadDirectory.class;
    }

    @Override
    public String shown(ThreadDirectory one) {
        return one.path() + " of thread " + one.tid();
    }

    @Override
    public void check(ThreadDirectory one, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.image().threads().stream()
                .anyMatch(thread -> thread.pid() == one.pid() && thread.tid() == one.tid()),
                "tid %d is not a thread of its process", one.tid());
        row.require(one.tid() != one.pid(), "tid %d is a main thread, which has its process's directory", one.tid());
        row.path("path", one.path());
        row.between(0, 0777, "umask", one.umask());
    }

    @Override
    public ThreadDirectory moved(ThreadDirectory one, UnaryOperator<String> path) {
        return new ThreadDirectory(one.id(), one.pid(), one.tid(), path.apply(one.path()), one.umask());
    }

    @Override
    public KindCapture capture(CaptureScope scope) {
        return new KindCapture() {
            @Override
            public void finish() {
                scope.processes().forEach(process -> process.threadPlaces()
                        .forEach(one -> scope.table().add(new ThreadDirectory(scope.table().newId(),
                                process.namespacePid(), one.tid(), one.path(), one.umask()))));
            }
        };
    }

    @Override
    public KindRestore<ThreadDirectory> restore(RestoreScope scope) {
        return new KindRestore<>() {
            private final Set<Integer> entered = new HashSet<>();

            @Override
            public void connect() {
                scope.objects(ThreadDirectory.class).forEach(this::enter);
            }

            private void enter(ThreadDirectory one) {
                Maker maker = scope.process(one.pid());
                if (!entered.add(one.tid())) {
                    throw scope.inconsistent("the image is inconsistent: thread " + one.tid()
                            + " has several working directories");
                }
                long opened = scope.tryOpenSeen(maker, one.path(), Syscall.O_PATH | Syscall.O_DIRECTORY
                        | Syscall.O_CLOEXEC);
                if (opened < 0) {
                    throw maker.changed("cannot enter the working directory " + one.path() + " of thread " + one.tid()
                            + ": " + LinuxError.name((int) -opened));
                }
                maker.callInThread(one.tid(), "unshare(CLONE_FS)", Syscall.UNSHARE, CLONE_FS);
                maker.callInThread(one.tid(), "enter its working directory " + one.path(), Syscall.FCHDIR, opened);
                maker.callInThread(one.tid(), "umask", Syscall.UMASK, one.umask());
                maker.call("close", Syscall.CLOSE, opened);
            }
        };
    }
}
