package org.udckpt.ud;

import java.io.Closeable;
import java.io.IOException;
import org.udckpt.address.VerbsAddress;

/** Takes the address of a queue pair that is gone, so that nobody else can send from there. */
@FunctionalInterface
public interface PortKeeper {
    /** Where addresses are not to be had, or tell nobody who sends. */
    PortKeeper NONE = real -> () -> {};

    /**
     * @return gives it back
     * @throws IOException when somebody else has it
     */
    Closeable keep(VerbsAddress real) throws IOException;
}
