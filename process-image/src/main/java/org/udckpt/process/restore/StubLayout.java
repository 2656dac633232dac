package org.udckpt.process.restore;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.udckpt.linux.Proc;
import org.udckpt.linux.ProcessMemory;
import org.udckpt.process.model.Region;

/** The mappings of a stub before it is cleared, from /proc/PID/maps; above all the kernel's own: vDSO and its data. */
record StubLayout(List<Region> regions) {
    static StubLayout of(int hostPid) {
        List<Region> regions = new ArrayList<>();
        for (String line : Proc.text("/proc/" + hostPid + "/maps").split("\n")) {
            String[] field = line.strip().split("\\s+", 6);
            int dash = field[0].indexOf('-');
            long start = Long.parseUnsignedLong(field[0].substring(0, dash), 16);
            long end = Long.parseUnsignedLong(field[0].substring(dash + 1), 16);
            regions.add(new Region(0, start, end, field[1], 0, field.length > 5 ? field[5] : "", "", 0));
        }
        return new StubLayout(List.copyOf(regions));
    }

    /** The kernel's own mappings that can be moved; [vsyscall] has one place for all. */
    static boolean movable(Region region) {
        return region.path().equals("[vdso]") || region.path().startsWith("[vvar");
    }

    static Optional<Region> vdso(List<Region> regions) {
        return regions.stream().filter(r -> r.path().equals("[vdso]")).findFirst();
    }

    /**
     * Address of a {@code syscall} instruction in the vDSO: the one piece of code that stays through the rebuilding.
     */
    long systemCallInstruction(int hostPid) {
        Region vdso = vdso(regions).orElseThrow(() -> new RestoreException(RestoreException.Reason.UNSUPPORTED,
                "this kernel gives processes no vDSO (vdso=0); boot it without that option"));
        try (ProcessMemory memory = new ProcessMemory(hostPid)) {
            byte[] code = memory.readBytes(vdso.start(), (int) vdso.size());
            for (int i = 0; i + 1 < code.length; i++) {
                if (code[i] == 0x0f && code[i + 1] == 0x05) {
                    return vdso.start() + i;
                }
            }
        }
        throw new RestoreException(RestoreException.Reason.UNSUPPORTED, "no syscall instruction in this kernel's vDSO");
    }
}
