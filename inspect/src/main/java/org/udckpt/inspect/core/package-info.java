/**
 * A process of a checkpoint as an ELF core file, which debuggers open. Source of the form: core(5), Linux
 * fs/binfmt_elf.c, include/uapi/linux/elf.h.
 */
package org.udckpt.inspect.core;
