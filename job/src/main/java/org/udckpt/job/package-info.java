/** Entry of the {@code udckpt} command. */
package org.udckpt.job;
