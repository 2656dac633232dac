package org.udckpt.process.kinds.deleted;

import static org.udckpt.linux.LinuxConstants.AT_EMPTY_PATH;

import java.util.function.UnaryOperator;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.DescriptorKind;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.OpenFlags;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;
import org.udckpt.process.names.NewName;

/** Handles of symbolic links without a name: made, opened and removed again. */
public final class DeletedLinkKind implements DescriptorKind<DeletedLink> {
    private static final int MOST_TARGET = 4095, ANYBODY = 0777;
    private static final long UTIME_OMIT = 0x3fff_fffe, SECOND_NS = 1_000_000_000L;

    @Override
    public Class<DeletedLink> record() {
        return DeletedLink.class;
    }

    @Override
    public String shown(DeletedLink link) {
        return link.path() + " -> " + link.target();
    }

    @Override
    public DeletedLink moved(DeletedLink link, UnaryOperator<String> moves) {
        return new DeletedLink(link.id(), moves.apply(link.path()), link.flags(), link.target(), link.uid(), link.gid(),
                link.modifiedNs());
    }

    @Override
    public void check(DeletedLink link, RowCheck row, CheckedImage image) throws BrokenTable {
        row.path("path", link.path());
        row.text("target", link.target());
        row.between(1, MOST_TARGET, "length of target", link.target().length());
        row.require((link.flags() & Syscall.O_PATH) != 0 && (link.flags() & Syscall.O_NOFOLLOW) != 0,
                "flags 0x%x are not of a handle of a symbolic link", link.flags());
    }

    @Override
    public KindCapture capture(CaptureScope scope) {
        return new DeletedLinkCapture(scope);
    }

    @Override
    public KindRestore<DeletedLink> restore(RestoreScope scope) {
        return new KindRestore<>() {
            @Override
            public long make(Maker maker, DeletedLink link) {
                NewName wanted =
                        new NewName(NewName.Kind.LINK, link.path(), ANYBODY, link.uid(), link.gid());
                return scope.placed().makeNamelessLink(wanted, link.target(), (path, made) -> {
                    long fd = scope.openMade(maker, path, OpenFlags.kept(link.flags()), made);
                    long time = link.modifiedNs();
                    // struct timespec[2]
                    long times = maker.structure().i64(0).i64(UTIME_OMIT)
                            .i64(Math.floorDiv(time, SECOND_NS)).i64(Math.floorMod(time, SECOND_NS)).put();
                    maker.call("set the time of " + link.path(), Syscall.UTIMENSAT, fd, maker.string(""), times,
                            AT_EMPTY_PATH);
                    return fd;
                });
            }
        };
    }
}
