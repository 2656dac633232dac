/**
 * What a restart would do, and what stands in its way, found out of an image without starting anything
 * (docs/user/restart.md).
 */
package org.udckpt.inspect.plan;
