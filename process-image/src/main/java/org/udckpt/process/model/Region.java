package org.udckpt.process.model;

/**
 * One mapping of a process, as in /proc/PID/maps.
 *
 * @param permissions "rwxp" or "rwxs"
 * @param path file path, "[heap]", "[stack]", "[vdso]", ..., or "" for anonymous memory; without " (deleted)"
 * @param vmFlags two-letter flags of smaps' VmFlags ("rd wr mr mw me ac hg"); "" for the kernel's own pages
 * @param backing id of the {@link SharedMemory} that holds the mapped object's contents, or 0: private memory (contents
 *     in the process's own extents) over a file that is expected to exist on restart, or over nothing
 */
public record Region(int pid, long start, long end, String permissions, long fileOffset, String path, String vmFlags,
        long backing) {
    public boolean shared() {
        return permissions.charAt(3) == 's';
    }

    public boolean writable() {
        return permissions.charAt(1) == 'w';
    }

    /** As mmap(2) takes it. */
    public int protection() {
        return (permissions.charAt(0) == 'r' ? 1 : 0) | (writable() ? 2 : 0) | (permissions.charAt(2) == 'x' ? 4 : 0);
    }

    /** Whether mprotect(2) may make it writable. */
    public boolean mayBeWritable() {
        return (" " + vmFlags + " ").contains(" mw ");
    }

    /** Made by the kernel in every process: [vdso], [vvar], [vvar_vclock], [vsyscall]. */
    public boolean kernelOwned() {
        return path.startsWith("[v");
    }

    /**
     * Empty in children, and whenever the kernel wants the memory (MAP_DROPPABLE): the vDSO's getrandom knows by it
     * that its state is somebody else's too. A restart is that to it: such memory comes back empty, and is not in the
     * image.
     */
    public boolean droppable() {
        return (" " + vmFlags + " ").contains(" dp ");
    }

    public long size() {
        return end - start;
    }
}
