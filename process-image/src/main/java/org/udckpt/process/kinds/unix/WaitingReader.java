package org.udckpt.process.kinds.unix;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.UnacceptedConnections;
import org.udckpt.linux.UnacceptedConnections.End;
import org.udckpt.linux.UnacceptedConnections.Message;
import org.udckpt.process.kinds.base.ObjectTable;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.model.Attribute;
import org.udckpt.process.model.AttributeKind;
import org.udckpt.process.model.PeerCredentials;

/** What a listener's connections have received that it has not accepted, and who has called; as root. */
final class WaitingReader {
    private static final String AGAIN = ", which cannot be checkpointed; try again when it was accepted";

    private final ObjectTable table;
    private final OpenDescriptor listener;
    private final List<End> ends;

    /**
     * @param connections how many wait
     * @param why they have to be read
     */
    WaitingReader(ObjectTable table, OpenDescriptor listener, int connections, String why) {
        this.table = table;
        this.listener = listener;
        this.ends = listener.duplicated(socket -> ends(socket, why));
        if (ends.size() != connections) {
            throw listener.failed("connections came or went in the queue of a listening socket");
        }
    }

    private List<End> ends(int socket, String why) {
        try (UnacceptedConnections waiting = new UnacceptedConnections()) {
            return waiting.of(socket, depth());
        } catch (LinuxError | IOException e) {
            throw listener.refuse("a connection that was not accepted yet " + why + ", which only root can checkpoint, "
                    + "on a kernel that shows them (bpf(2) and BTF: " + e.getMessage()
                    + "); try again when it was accepted");
        }
    }

    /** Of the job's pid namespace below this process's. */
    private int depth() {
        return numbers(Integer.toString(listener.process().pid())) - listener.process().pidNamespaces()
                - numbers("self");
    }

    private static int numbers(String process) {
        return Proc.field(Proc.text("/proc/" + process + "/status"), "NSpid:").strip().split("\\s+").length;
    }

    /** The rows of a connection that has one already. */
    void add(WaitingConnection connection, int place) {
        End end = ends.get(place);
        if (connection.client() == WaitingConnection.CLOSED) {
            check(!end.name(), "has been closed by its client, which had a name");
        }
        check(!end.urgent(), "has urgent data (MSG_OOB)");
        check(end.maker().pid() != 0, "comes from a process that the job cannot see");
        check(end.groups().length <= PeerCredentials.MOST_GROUPS, "comes from a process in too many groups");
        table.add(Attribute.of(AttributeKind.PEER_CREDENTIALS, listener.process().namespacePid(), 0,
                new PeerCredentials(connection.id(), end.maker().pid(), end.maker().uid(), end.maker().gid(),
                        end.groups()).values()));
        if (!end.messages().isEmpty()) {
            addMessages(connection, end.messages());
        }
    }

    private void addMessages(WaitingConnection connection, List<Message> messages) {
        long id = table.newId();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        List<Integer> lengths = new ArrayList<>();
        for (Message one : messages) {
            check(!one.descriptors(), "has descriptors in flight");
            check(one.sender().pid() != 0, "has a message of a process that the job cannot see");
            table.add(new CredentialsInFlight(table.newId(), id, lengths.size(), one.sender().pid(),
                    one.sender().uid(), one.sender().gid()));
            bytes.writeBytes(one.bytes());
            lengths.add(one.bytes().length);
        }
        table.add(new WaitingMessages(id, connection.id(), bytes.toByteArray(),
                lengths.stream().mapToInt(Integer::intValue).toArray()));
    }

    private void check(boolean kept, String otherwise) {
        if (!kept) {
            throw listener.refuse("a connection that was not accepted yet " + otherwise + AGAIN);
        }
    }
}
