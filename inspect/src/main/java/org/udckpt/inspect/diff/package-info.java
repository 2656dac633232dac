/** What differs between two checkpoints. No printing here: {@link ImageDiff} is the answer. */
package org.udckpt.inspect.diff;
