/** The lead of a job on several hosts: its units, what they say, their losses, and the job's end. */
package org.udckpt.lifecycle.lead;
