package org.udckpt.image.directory;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.udckpt.image.ImageNames;
import org.udckpt.image.manifest.HostParts;
import org.udckpt.image.storage.StorageIo;

/** The directory of one node's part of a checkpoint, on storage that the node's host has for itself. */
public final class PartDirectory {
    private static final Pattern OF_NODE = Pattern.compile("node-(\\d{4,9})");

    private PartDirectory() {}

    /**
     * Makes it, while ranks may stand still: nothing is synced. What a dead writer left under the number goes: only
     * this node writes there, and a number is given out once.
     *
     * @throws NoSuchFileException where what {@code parts} is in is not there: it may be a disk that is not mounted
     */
    public static void make(HostParts parts, int node, long checkpoint, StorageIo io) throws IOException {
        for (Path parent : new Path[]{parts.directory().getParent(), parts.directory(), parts.ofNode(node)}) {
            new CheckpointIds(parent, io).makeParent();
        }
        Path part = parts.part(node, checkpoint);
        if (io.list(parts.ofNode(node)).contains(part)) {
            CheckpointRemoval.remove(part, io);
        }
        io.createDirectory(part);
    }

    /**
     * Removes what a node's host has of checkpoints until {@code newest} that do not stay.
     *
     * @return the numbers of those that went
     */
    public static List<Long> keep(HostParts parts, int node, long newest, Set<Long> stay, StorageIo io)
            throws IOException {
        try (StorageIo.Session session = io.session()) {
            return keepHeld(parts, node, newest, stay, session);
        }
    }

    private static List<Long> keepHeld(HostParts parts, int node, long newest, Set<Long> stay, StorageIo io)
            throws IOException {
        List<Long> gone = new ArrayList<>();
        if (!io.hasDirectory(parts.ofNode(node))) {
            return gone;
        }
        for (Path part : io.list(parts.ofNode(node))) {
            OptionalLong id = ImageNames.id(part);
            if (id.isPresent() && id.getAsLong() <= newest && !stay.contains(id.getAsLong())) {
                CheckpointRemoval.remove(part, io);
                gone.add(id.getAsLong());
            }
        }
        return gone;
    }

    /**
     * The same of nodes whose units were on this host, and are on others now. What is empty then goes.
     *
     * @param here the nodes whose units are on this host
     */
    public static void keepOfMoved(HostParts parts, Set<Integer> here, long newest, Set<Long> stay, StorageIo io)
            throws IOException {
        try (StorageIo.Session session = io.session()) {
            keepHeldOfMoved(parts, here, newest, stay, session);
        }
    }

    private static void keepHeldOfMoved(HostParts parts, Set<Integer> here, long newest, Set<Long> stay,
            StorageIo.Session io) throws IOException {
        if (!io.hasDirectory(parts.directory())) {
            return;
        }
        for (Path ofNode : io.list(parts.directory())) {
            Matcher name = OF_NODE.matcher(ofNode.getFileName().toString());
            if (name.matches() && !here.contains(Integer.parseInt(name.group(1)))) {
                keep(parts, Integer.parseInt(name.group(1)), newest, stay, io);
                if (io.list(ofNode).isEmpty()) {
                    io.delete(ofNode);
                }
            }
        }
    }

    /** Makes its name durable, and those of all that was made for it. */
    public static void sync(HostParts parts, int node, StorageIo io) throws IOException {
        io.syncDirectory(parts.ofNode(node));
        io.syncDirectory(parts.directory());
        io.syncDirectory(parts.directory().getParent());
        io.syncDirectory(parts.directory().getParent().getParent());
    }
}
