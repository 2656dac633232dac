package org.udckpt.process.kinds.namespace;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.HostNames;
import org.udckpt.process.model.RowCheck;
import org.udckpt.process.model.UserNamespace;

/** UTS namespaces that the job has made; the restart of mounts makes them, too. */
public final class HostNamesKind implements ObjectKind<HostNames> {
    /** __NEW_UTS_LEN */
    private static final int LONGEST = 64;

    @Override
    public Class<HostNames> record() {
        return HostNames.class;
    }

    @Override
    public String shown(HostNames one) {
        return one.host();
    }

    @Override
    public void check(HostNames one, RowCheck row, CheckedImage image) throws BrokenTable {
        row.text("host", one.host());
        row.text("domain", one.domain());
        row.require(one.host().length() <= LONGEST && one.domain().length() <= LONGEST,
                "a name of %d and one of %d characters", one.host().length(), one.domain().length());
        row.require(one.user() == 0 || image.is(one.user(), UserNamespace.class), "user %d is no user namespace",
                one.user());
    }
}
