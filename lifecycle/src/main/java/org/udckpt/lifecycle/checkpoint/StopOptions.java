package org.udckpt.lifecycle.checkpoint;

/**
 * How one checkpoint stops a job.
 *
 * @param last the ranks stand still from the copy on until the attempt is closed, or the job is ended
 * @param detachDebuggers tracers that are processes of the job let go of what they trace; else they are a reason to
 *     refuse
 */
public record StopOptions(boolean last, boolean detachDebuggers) {}
