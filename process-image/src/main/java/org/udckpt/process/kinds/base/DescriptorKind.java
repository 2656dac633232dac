package org.udckpt.process.kinds.base;

import org.udckpt.process.model.JobImage;

/**
 * A kind of kernel object that a descriptor can name: it is captured from a descriptor of a stopped process, and
 * restored as a descriptor.
 *
 * @param <T> the record
 */
public interface DescriptorKind<T> extends ObjectKind<T> {
    @Override
    KindCapture capture(CaptureScope scope);

    @Override
    KindRestore<T> restore(RestoreScope scope);

    /**
     * Whether it is known by where the descriptor comes from, and not by what it is: such kinds are asked before the
     * others.
     */
    default boolean given() {
        return false;
    }

    /**
     * Of sockets of the network: those of an image are made in this process, before others, and handed over. Null: not
     * of this kind.
     */
    default MadeHere madeHere(JobImage image, ObjectOwners owners) {
        return null;
    }
}
