/**
 * How ranks are started: hosts and their ranks, the environment and working directory, the shepherd that starts them.
 */
package org.udckpt.launch;
