package org.udckpt.process.kinds.namespace;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;
import org.udckpt.process.model.UserNamespace;
import org.udckpt.process.model.UtsNamespace;

/** UTS namespaces that the job has made; the restart of mounts makes them, too. */
public final class UtsNamespaceKind implements ObjectKind<UtsNamespace> {
    /** __NEW_UTS_LEN */
    private static final int LONGEST = 64;

    @Override
    public Class<UtsNamespace> record() {
        return UtsNamespace.class;
    }

    @Override
    public String shown(UtsNamespace one) {
        return one.hostName();
    }

    @Override
    public void check(UtsNamespace one, RowCheck row, CheckedImage image) throws BrokenTable {
        row.text("hostName", one.hostName());
        row.text("domainName", one.domainName());
        row.require(one.hostName().length() <= LONGEST && one.domainName().length() <= LONGEST,
                "a name of %d and one of %d characters", one.hostName().length(), one.domainName().length());
        row.require(one.userOwner() == 0 || image.is(one.userOwner(), UserNamespace.class),
                "userOwner %d is no user namespace",
                one.userOwner());
    }
}
