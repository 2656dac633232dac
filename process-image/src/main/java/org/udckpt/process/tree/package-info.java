/**
 * In which order a job's processes are made, so that parents, sessions and process groups become what they were. The
 * capture asks for the same order that the restore follows: what has none is refused before a checkpoint says that it
 * can be restarted.
 */
package org.udckpt.process.tree;
