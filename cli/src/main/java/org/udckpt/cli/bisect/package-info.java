/**
 * In which checkpoint of a run something is true for the first time, and at which statement it became so
 * (docs/user/debugging.md).
 */
package org.udckpt.cli.bisect;
