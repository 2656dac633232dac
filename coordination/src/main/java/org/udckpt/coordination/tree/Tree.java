package org.udckpt.coordination.tree;

/**
 * Parents and children by numbers alone: node 0 is the root, and the children of node {@code n} are
 * {@code n * fanOut + 1} and the next ones. Nodes with numbers close to each other, whose ranks communicate most, have
 * near ancestors in common.
 *
 * @param nodes of the job, from 1
 * @param fanOut children of a node, from 2 to 32
 */
public record Tree(int nodes, int fanOut) {
    public static final int USUAL_FAN_OUT = 16;

    public Tree {
        if (nodes < 1) {
            throw new IllegalArgumentException("a tree of " + nodes + " nodes");
        }
        if (fanOut < 2 || fanOut > 32) {
            throw new IllegalArgumentException("fan-out " + fanOut + " is not from 2 to 32");
        }
    }

    /** The node above {@code node}, which is not the root. */
    public int parent(int node) {
        return (node - 1) / fanOut;
    }

    /** The first child's number, were there one. */
    public int firstChild(int node) {
        return (int) Math.min(nodes, (long) node * fanOut + 1);
    }

    /** The number behind the last child: {@link #firstChild} for a leaf. */
    public int endOfChildren(int node) {
        return (int) Math.min(nodes, (long) node * fanOut + fanOut + 1);
    }

    /** Whether {@code node} is somewhere below {@code ancestor}. */
    public boolean isBelow(int node, int ancestor) {
        int above = node;
        while (above > ancestor) {
            above = parent(above);
        }
        return above == ancestor && node != ancestor;
    }

    /** How many steps {@code node} is from the root. */
    public int level(int node) {
        int level = 0;
        for (int above = node; above > 0; above = parent(above)) {
            level++;
        }
        return level;
    }

    /** The level of the lowest nodes. */
    public int depth() {
        return level(nodes - 1);
    }
}
