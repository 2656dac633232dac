package org.udckpt.process.model;

/**
 * A file on disk that belongs to the checkpoint: the job had it open for writing, or it is in a directory that the user
 * named ({@code --files}). Paths are absolute, without "." and "..", as the kernel spells them; times are nanoseconds
 * since 1970.
 */
public sealed interface JobFile {
    String path();

    /** How the content at the stop was got hold of while the job went on. */
    enum Cut {
        /** a reflink made during the stop */
        CLONED,
        /** copied during the stop */
        COPIED,
        /** read afterwards, and then it was still what it had been at the stop */
        UNCHANGED,
        /** read afterwards; everybody who had it open could only append to it */
        APPENDED,
        /** read afterwards; what lay below its end was the same before the stop and after it */
        GROWN
    }

    /**
     * Contents are extents of the {@link MemorySource} of this id, which no {@link KernelObject} has but the
     * {@link SharedMemory} of the same file, where it is mapped; what is in no extent is zero.
     *
     * @param changedNs st_ctime; with device and inode it tells whether the file is still the same; 0: it would not,
     *     since the file was mapped
     */
    record RegularFile(long id, String path, long size, int mode, int uid, int gid, long modifiedNs, long device,
            long inode, long changedNs, Cut cut)
            implements
                JobFile {}

    /** Another name of {@code of}, which is the path of a {@link RegularFile}. */
    record HardLink(String path, String of) implements JobFile {}

    record SymbolicLink(String path, String target, int uid, int gid) implements JobFile {}

    record Directory(String path, int mode, int uid, int gid, long modifiedNs) implements JobFile {}

    /** Not in the image, and why. One that the job writes to is cut back to its length at a restart. */
    record LeftOut(String path, String reason) implements JobFile {}

    /**
     * What the user named. {@code path} is a glob; whatever matches it and is not in the image was made after the
     * checkpoint.
     *
     * @param except true: what matches was not to be saved
     */
    record Named(String path, boolean except) implements JobFile {}
}
