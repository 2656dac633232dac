/**
 * How a checkpoint of a running job is taken, on one host and on several: stop, snapshot, write, commit, and what
 * becomes of older ones.
 */
package org.udckpt.lifecycle.checkpoint;
