/** Network namespaces as hosts on one machine, for tests of jobs with many nodes (docs/operator/networks.md). */
package org.udckpt.hosts;
