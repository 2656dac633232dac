package org.udckpt.process.kinds.namespace;

import org.udckpt.process.model.KernelObject;

/** Whose namespace an open one is ({@link NamespaceFile}), if not that of the process that has it open. */
public record NamespaceFilePlace(long id, long namespaceFile, int pid) implements KernelObject {}
