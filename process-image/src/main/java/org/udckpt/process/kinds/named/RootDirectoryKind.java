package org.udckpt.process.kinds.named;

import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.kinds.base.StoppedProcess;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** Processes with another root directory. All that is opened by a name is, before they enter it. */
public final class RootDirectoryKind implements ObjectKind<RootDirectory> {
    @Override
    public Class<RootDirectory> record() {
        return RootDirectory.class;
    }

    @Override
    public String shown(RootDirectory root) {
        return root.path() + " of process " + root.pid();
    }

    @Override
    public void check(RootDirectory root, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.process(root.pid()), "there is no process %d", root.pid());
        row.text("path", root.path());
        row.require(root.path().startsWith("/"), "path is not absolute (length %d)", root.path().length());
    }

    @Override
    public KindCapture capture(CaptureScope scope) {
        return new KindCapture() {
            @Override
            public void finish() {
                scope.processes().stream().filter(process -> !process.rootDirectory().equals("/")).forEach(this::add);
            }

            private void add(StoppedProcess process) {
                String outside = process.outside(process.rootDirectory());
                String refusal = outside == null ? null : RootDirectory.refusal(outside);
                if (refusal != null) {
                    throw process.refuse(refusal);
                }
                scope.table().add(new RootDirectory(scope.table().newId(), process.namespacePid(),
                        process.rootDirectory()));
            }
        };
    }

    @Override
    public KindRestore<RootDirectory> restore(RestoreScope scope) {
        return new KindRestore<>() {
            @Override
            public void placed() {
                scope.objects(RootDirectory.class).forEach(this::enter);
            }

            private void enter(RootDirectory root) {
                Maker maker = scope.process(root.pid());
                long opened = scope.tryOpenSeen(maker, root.path(), Syscall.O_PATH | Syscall.O_DIRECTORY
                        | Syscall.O_CLOEXEC);
                if (opened < 0) {
                    throw maker.changed("cannot open its root directory " + root.path() + ": "
                            + LinuxError.name((int) -opened));
                }
                maker.call("enter its root directory " + root.path(), Syscall.CHROOT,
                        maker.string("/proc/self/fd/" + opened));
                maker.call("close", Syscall.CLOSE, opened);
            }
        };
    }
}
