/** A job from its start or restart to its end, and through restarts after failures: single host or several. */
package org.udckpt.lifecycle;
