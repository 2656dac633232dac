package org.udckpt.process.kinds.namespace;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;
import org.udckpt.process.model.UserNamespace;

/** User namespaces that the job has made; the restart of mounts makes them, whose namespaces they own. */
public final class UserNamespaceKind implements ObjectKind<UserNamespace> {
    @Override
    public Class<UserNamespace> record() {
        return UserNamespace.class;
    }

    @Override
    public String shown(UserNamespace one) {
        return "made by user " + one.maker();
    }

    @Override
    public void check(UserNamespace one, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(
                one.parentNamespace() == 0
                        || image.is(one.parentNamespace(), UserNamespace.class) && one.parentNamespace() < one.id(),
                "parentNamespace %d is none that was made before", one.parentNamespace());
        UserNamespace above = one.parentNamespace() == 0 ? null : (UserNamespace) image.get(one.parentNamespace());
        map(row, "userMap", one.userMap(), above == null ? null : above.userMap());
        map(row, "groupMap", one.groupMap(), above == null ? null : above.groupMap());
    }

    private static void map(RowCheck row, String column, int[] map, int[] above) throws BrokenTable {
        row.length(column, map == null ? -1 : map.length, 0, 3 * NamespaceRestore.MOST_RANGES, 3);
        for (int i = 2; i < map.length; i += 3) {
            row.require(map[i] != 0, column + ": a range of %d", map[i]);
            row.require(above == null || NumberMap.has(above, map[i - 1]), column + ": the namespace above has no %d",
                    map[i - 1]);
        }
    }
}
