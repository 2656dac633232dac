package org.udckpt.process.model;

/**
 * A limit of an {@link IpcNamespace} that is not what a new one has (proc_sys_kernel(5), mq_overview(7)).
 *
 * @param ipcNamespace 0: that of a restarted job itself, whose limits are not the machine's
 * @param setting the file, below /proc/sys
 * @param settingText of the file, without the end of its line
 */
public record IpcSetting(long id, long ipcNamespace, String setting, String settingText) implements KernelObject {}
