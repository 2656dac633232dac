package org.udckpt.process.cuda;

/** What a function of the CUDA driver has answered instead of CUDA_SUCCESS. */
public final class CudaError extends RuntimeException {
    /** CUresult of the CUDA driver API. */
    public static final int OPERATING_SYSTEM = 304, ILLEGAL_STATE = 401, NOT_READY = 600, NOT_SUPPORTED = 801;
    static final int UNKNOWN = 999;
    private static final long serialVersionUID = 1L;
    private final int code;

    /** @param name CUDA_ERROR_...; null: the driver has none for this code */
    CudaError(String function, int code, String name, String text) {
        super(function + ": " + (name == null ? "error " + code : name) + (text == null ? "" : " (" + text + ")"));
        this.code = code;
    }

    /** CUresult. */
    public int code() {
        return code;
    }

    /**
     * Why the driver may refuse a process, and what can be done about it, as NVIDIA's and CRIU's pages about
     * cuda-checkpoint, and NCCL's and UCX's about their variables, have it; empty where nothing is known.
     */
    public String advice() {
        return switch (code) {
            case NOT_SUPPORTED -> "; it has what this driver cannot checkpoint: memory shared between processes (NCCL: "
                    + "NCCL_P2P_DISABLE=1 and NCCL_CUMEM_ENABLE=0; UCX: UCX_TLS=^cuda_ipc), multicast objects "
                    + "(NCCL_NVLS_ENABLE=0), managed memory, MIG or MPS; a newer driver may be able to";
            case ILLEGAL_STATE -> "; it has begun to use CUDA a moment ago, or another program suspends it; try again";
            case OPERATING_SYSTEM -> "; the driver needs the right to trace it (CAP_SYS_PTRACE) and access to "
                    + "/dev/nvidia*";
            default -> "";
        };
    }
}
