/** Settings, their origins (files, environment, flags) and their checks. */
package org.udckpt.support.config;
