/** A job from its start or restart to its end, and through restarts after failures. */
package org.udckpt.job.life;
