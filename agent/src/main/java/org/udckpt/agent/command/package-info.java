/** Commands to a running job over the agent's socket: client and server. */
package org.udckpt.agent.command;
