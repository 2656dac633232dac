/** Descriptors of namespaces. */
package org.udckpt.process.kinds.namespace;
