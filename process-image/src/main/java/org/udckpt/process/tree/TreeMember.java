package org.udckpt.process.tree;

/**
 * A process, or a child that has ended and was not waited for yet. Numbers of the job's own pid namespace.
 *
 * @param parent as {@link org.udckpt.process.model.ProcessState#parentPid} has it
 */
public record TreeMember(int pid, int parent, int session, int group) {
    boolean leadsSession() {
        return session == pid;
    }
}
