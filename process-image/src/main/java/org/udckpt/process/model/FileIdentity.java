package org.udckpt.process.model;

/**
 * A file that the job maps or reads, and of which the image holds no content: how a restart knows it again.
 *
 * @param modifiedNs st_mtime, in nanoseconds since 1970, as the other times
 * @param changedNs st_ctime; 0: it was so young that a later write might have left it as it is
 * @param bornNs when it was made; 0: its file system does not say
 * @param boot of the kernel (boot_id) under which {@code device} and {@code inode} mean this file
 * @param writers who besides the job's user and root could have exchanged or changed it:
 *     {@code org.udckpt.linux.Writers#text}
 * @param ownWriters those of them who could have written to the very file
 * @param buildId the linker's, in hexadecimal; "": it has none
 * @param digest SHA-256 of the whole file; null: see {@code undigested}
 * @param undigested why there is no digest
 */
public record FileIdentity(String path, Use use, long size, long modifiedNs, long changedNs, long bornNs, long device,
        long inode, int mode, int uid, int gid, String boot,
        String writers, String ownWriters, String buildId, byte[] digest, String undigested) {
    /** What the job does with it; of several the first. */
    public enum Use {
        /** A program, or memory that is mapped privately: code and data that run as they are. */
        PROGRAM("maps"),
        /** Memory that is mapped shared and read-only: the job sees what is written to the file. */
        SHARED("maps"),
        /** Open for reading. */
        READ("has open");

        private final String verb;

        Use(String verb) {
            this.verb = verb;
        }

        /** "which the job ..." */
        public String verb() {
            return verb;
        }
    }

    /** The same file, which is elsewhere. */
    public FileIdentity at(String other) {
        return new FileIdentity(other, use, size, modifiedNs, changedNs, bornNs, device, inode, mode, uid, gid, boot,
                writers, ownWriters, buildId, digest, undigested);
    }
}
