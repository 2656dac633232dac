package org.udckpt.process.model;

/** Where a {@link SharedMemory} object lives. */
public enum MemoryKind {
    /** shared anonymous mmap (also of /dev/zero) */
    ANONYMOUS,
    MEMFD,
    /** shmget(2) */
    SYSV,
    /** a file that was unlinked while open or mapped */
    DELETED_FILE,
    /** a file of a memory file system that still has its name */
    NAMED_FILE,
    /** a file on disk that the job had open for writing: its contents at the checkpoint, to be put back */
    DISK_FILE,
    /** a file of a {@link JobFilesystem} */
    MOUNTED_FILE
}
