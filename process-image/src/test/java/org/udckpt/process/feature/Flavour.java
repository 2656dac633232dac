package org.udckpt.process.feature;

/** In which way a case is restored. */
enum Flavour {
    /** All memory is in place before the start. */
    WHOLE,
    /** All memory that can wait comes in while the program runs, slowly. */
    LAZY
}
