package org.udckpt.process.cuda;

/** Where a process is between running and suspended: CUprocessState of the CUDA driver API, by its number. */
public enum CudaState {
    RUNNING,
    /** Calls of the CUDA API wait. */
    LOCKED,
    /** Device memory is in host memory, and the process has no GPU. */
    CHECKPOINTED,
    /** An error has left it where nothing leads back. */
    FAILED,
    /** From CUDA 13 on. */
    CHECKPOINTING,
    /** From CUDA 13 on. */
    RESTORING;

    private static final CudaState[] ALL = values();

    static CudaState of(int number) {
        if (number < 0 || number >= ALL.length) {
            throw new CudaError("cuCheckpointProcessGetState", CudaError.UNKNOWN, "CUDA_ERROR_UNKNOWN",
                    "state " + number + " is none that this version of udckpt knows");
        }
        return ALL[number];
    }
}
