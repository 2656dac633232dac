package org.udckpt.process.kinds.mqueue;

import java.util.function.Function;
import org.udckpt.linux.Files;
import org.udckpt.process.kinds.base.AskedProcess;
import org.udckpt.process.kinds.base.OpenDescriptor;

/**
 * A queue of the job.
 *
 * @param path by which this process opens it
 * @param refusal the error that it cannot be captured
 * @param failure the error that another capture may succeed
 */
record FoundQueue(String path, String name, Files.Stat stat, Function<String, RuntimeException> refusal,
        Function<String, RuntimeException> failure) {
    /** A queue, by whatever it was found. */
    record Key(long device, long inode) {
        static Key of(Files.Stat stat) {
            return new Key(stat.device(), stat.inode());
        }
    }

    /** That of a descriptor. The last name of its path is the one in the file system of queues. */
    static FoundQueue of(OpenDescriptor open) {
        String path = open.stat().links() == 0 ? open.name() : open.link();
        return new FoundQueue(open.proc(), path.substring(path.lastIndexOf('/') + 1), open.stat(), open::refuse,
                open::failed);
    }

    /** One that is not open. */
    static FoundQueue of(AskedProcess process, String directory, String name, Files.Stat stat) {
        return new FoundQueue(directory + "/" + name, name, stat, process::refuse, process::failed);
    }

    Key key() {
        return Key.of(stat);
    }

    RuntimeException refuse(String reason) {
        return refusal.apply("POSIX message queue /" + name + " " + reason);
    }

    RuntimeException failed(String reason) {
        return failure.apply("POSIX message queue /" + name + " " + reason);
    }
}
