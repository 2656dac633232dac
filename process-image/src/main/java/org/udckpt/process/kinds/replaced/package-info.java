/** Descriptors that a restart replaces by new ones: connections to the agent and to PMI, standard streams. */
package org.udckpt.process.kinds.replaced;
