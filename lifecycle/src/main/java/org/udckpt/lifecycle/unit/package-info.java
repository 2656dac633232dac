/** A unit of a job on several hosts, in its agent: does with its ranks what the coordinator asks for. */
package org.udckpt.lifecycle.unit;
