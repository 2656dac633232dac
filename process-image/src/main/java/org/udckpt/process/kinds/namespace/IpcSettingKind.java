package org.udckpt.process.kinds.namespace;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.IpcNamespace;
import org.udckpt.process.model.IpcSetting;
import org.udckpt.process.model.RowCheck;

/** Limits of IPC namespaces. */
public final class IpcSettingKind implements ObjectKind<IpcSetting> {
    @Override
    public Class<IpcSetting> record() {
        return IpcSetting.class;
    }

    @Override
    public String shown(IpcSetting one) {
        return one.setting() + " = " + one.settingText();
    }

    @Override
    public KindRestore<IpcSetting> restore(RestoreScope scope) {
        return new IpcSettingRestore(scope);
    }

    @Override
    public void check(IpcSetting one, RowCheck row, CheckedImage image) throws BrokenTable {
        row.text("setting", one.setting());
        row.text("settingText", one.settingText());
        row.require(IpcSettings.ALL.contains(one.setting()), "setting is no limit of IPC namespaces (length %d)",
                one.setting().length());
        row.require(
                one.settingText()
                        .matches(one.setting().endsWith(IpcSettings.NEXT) ? "[0-9]{1,10}"
                                : "[0-9]{1,19}(\\t[0-9]{1,10}){0,3}|1844[0-9]{16}"),
                "settingText is no number (length %d)",
                one.settingText().length());
        row.require(one.ipcNamespace() == 0 || image.is(one.ipcNamespace(), IpcNamespace.class),
                "ipcNamespace %d is none", one.ipcNamespace());
    }
}
