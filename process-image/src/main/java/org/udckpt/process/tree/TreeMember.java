package org.udckpt.process.tree;

/**
 * A process, or a child that has ended and was not waited for yet. Numbers of the job's own pid namespace.
 *
 * @param parent as {@link org.udckpt.process.model.ProcessState#parentPid} has it
 * @param born it can only be born in its process group, and not join it: it is in a pid namespace in which that has no
 *     number
 * @param after another process that has to be there before it: the first of its pid namespace, in which its parent is
 *     not; 0: none
 */
public record TreeMember(int pid, int parent, int session, int group, boolean born, int after) {
    /** One that can join its group. */
    public TreeMember(int pid, int parent, int session, int group) {
        this(pid, parent, session, group, false, 0);
    }

    boolean leadsSession() {
        return session == pid;
    }
}
