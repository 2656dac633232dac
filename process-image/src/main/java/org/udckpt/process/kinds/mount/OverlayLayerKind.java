package org.udckpt.process.kinds.mount;

import java.util.List;
import java.util.function.UnaryOperator;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.JobFilesystem;
import org.udckpt.process.model.OverlayLayer;
import org.udckpt.process.model.RowCheck;

/** Layers of overlays. */
public final class OverlayLayerKind implements ObjectKind<OverlayLayer> {
    @Override
    public Class<OverlayLayer> record() {
        return OverlayLayer.class;
    }

    @Override
    public String shown(OverlayLayer one) {
        return one.option() + " " + one.layer() + " of file system " + one.overlay();
    }

    @Override
    public OverlayLayer moved(OverlayLayer one, UnaryOperator<String> moves) {
        return one.outside().isEmpty() ? one : new OverlayLayer(one.id(), one.overlay(), one.option(), one.layer(),
                moves.apply(one.outside()), one.filesystem(), one.part());
    }

    @Override
    public void check(OverlayLayer one, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.get(one.overlay()) instanceof JobFilesystem system
                && system.fileSystem().equals(OverlayOptions.OVERLAY), "overlay %d is none", one.overlay());
        row.text("option", one.option());
        row.require(List.of(OverlayLayer.LOWER, OverlayLayer.UPPER, OverlayLayer.WORK).contains(one.option()),
                "option is none of a layer (length %d)", one.option().length());
        row.path("layer", one.layer());
        MountTrees.shortEnough(row, one.layer());
        row.text("outside", one.outside());
        row.text("part", one.part());
        row.require(one.filesystem() == 0 || image.is(one.filesystem(), JobFilesystem.class)
                && one.filesystem() != one.overlay(), "filesystem %d is none of a layer", one.filesystem());
        row.require(one.filesystem() == 0 || one.outside().isEmpty(), "filesystem %d, and outside of the job",
                one.filesystem());
        if (!one.made()) {
            row.path(one.filesystem() == 0 ? "outside" : "part",
                    one.filesystem() == 0 ? one.outside() : one.part());
        }
        for (String path : List.of(one.outside(), one.part())) {
            MountTrees.shortEnough(row, path);
        }
    }
}
