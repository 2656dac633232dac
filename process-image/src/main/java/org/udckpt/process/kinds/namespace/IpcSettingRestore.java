package org.udckpt.process.kinds.namespace;

import static org.udckpt.linux.LinuxConstants.CLONE_NEWIPC;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.NamespaceCalls;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.IpcNamespaceMember;
import org.udckpt.process.model.IpcSetting;
import org.udckpt.process.model.ProcessState;

/**
 * Sets limits of IPC namespaces, in their place: before objects are made those that are higher, for objects were made
 * under other limits than they are used; afterwards all.
 */
final class IpcSettingRestore implements KindRestore<IpcSetting> {
    private final RestoreScope scope;

    IpcSettingRestore(RestoreScope scope) {
        this.scope = scope;
    }

    /** Whether a setting does something to objects by itself, or is used up by the first of them. */
    private static boolean acts(IpcSetting setting) {
        return setting.setting().equals(IpcSettings.REMOVES) || setting.setting().endsWith(IpcSettings.NEXT);
    }

    /** @param maker in that namespace; namespace 0: that of the restart */
    void raise(Maker maker, long namespace) {
        each(maker, of(namespace).stream().filter(one -> !acts(one)).toList(), (inside, setting) -> {
            String now = inside.text(path(setting));
            if (now != null) {
                set(maker, inside, setting, higher(now.strip(), setting.settingText()));
            }
        });
    }

    private List<IpcSetting> of(long namespace) {
        return scope.objects(IpcSetting.class).stream().filter(one -> one.ipcNamespace() == namespace).toList();
    }

    private static String path(IpcSetting setting) {
        return "/proc/sys/" + setting.setting();
    }

    private static void each(Maker maker, List<IpcSetting> settings, BiConsumer<NamespaceCalls, IpcSetting> use) {
        if (settings.isEmpty()) {
            return;
        }
        try (NamespaceCalls inside = new NamespaceCalls(maker.hostPid(), "ipc", CLONE_NEWIPC)) {
            settings.forEach(setting -> use.accept(inside, setting));
        } catch (LinuxError e) {
            throw maker.failed("set limits of its IPC namespace: " + e.getMessage());
        }
    }

    private static void set(Maker maker, NamespaceCalls inside, IpcSetting setting, String text) {
        long result = inside.write(path(setting), text);
        if (result < 0) {
            throw maker.unsupported("its IPC namespace has " + setting.setting() + " = " + setting.settingText()
                    + ", which cannot be set here (" + LinuxError.name((int) -result) + "); restart it as root");
        }
    }

    /** Number by number; 64 bits without a sign. */
    private static String higher(String now, String wanted) {
        String[] these = now.split("\\s+");
        String[] those = wanted.split("\\s+");
        for (int i = 0; i < those.length && i < these.length; i++) {
            if (Long.compareUnsigned(Long.parseUnsignedLong(these[i]), Long.parseUnsignedLong(those[i])) > 0) {
                those[i] = these[i];
            }
        }
        return String.join("\t", those);
    }

    /** When all objects are there. */
    @Override
    public void placed() {
        Map<Long, Integer> members = new LinkedHashMap<>();
        scope.objects(IpcNamespaceMember.class)
                .forEach(member -> members.putIfAbsent(member.ipcNamespace(), member.pid()));
        scope.image().processes().stream().map(ProcessState::pid)
                .filter(pid -> scope.objects(IpcNamespaceMember.class).stream().noneMatch(one -> one.pid() == pid))
                .findFirst().ifPresent(pid -> members.put(0L, pid));
        members.forEach((namespace, pid) -> setAll(pid, namespace));
    }

    private void setAll(int pid, long namespace) {
        Maker maker = scope.process(pid);
        each(maker, of(namespace), (inside, setting) -> set(maker, inside, setting, setting.settingText()));
    }
}
