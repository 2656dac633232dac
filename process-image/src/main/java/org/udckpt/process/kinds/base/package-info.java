/**
 * What every kind of kernel object is made of: its parts as interfaces, and what the capture, the restore and the check
 * offer to them. It knows no kind; each kind is in a folder of its own beside this one, and {@code ObjectKinds} lists
 * them.
 */
package org.udckpt.process.kinds.base;
