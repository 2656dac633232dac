/** Control groups below the one in which a rank was started (cgroups(7)). */
package org.udckpt.process.kinds.cgroup;
