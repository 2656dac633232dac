/** Network namespaces as hosts on one machine, for tests of jobs with many nodes (docs/hosts.md). */
package org.udckpt.job.hosts;
