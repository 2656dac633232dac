/** The restart of a job, or of one unit of it: files put back, processes restored, verbs reconnected. */
package org.udckpt.lifecycle.restart;
