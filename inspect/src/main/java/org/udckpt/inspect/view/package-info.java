/** The words in which {@code inspect} and {@code diff} speak of what is in a checkpoint. */
package org.udckpt.inspect.view;
