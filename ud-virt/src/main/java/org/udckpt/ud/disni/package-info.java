/**
 * Unreliable datagrams for users of DiSNI ({@code com.ibm.disni:disni:2.0}), whose own API knows connections only.
 * Open a device with {@link org.udckpt.ud.disni.UdContext#open}, make its PD, completion queues and memory regions
 * with DiSNI as ever, a queue pair with {@link org.udckpt.ud.disni.UdQueuePair#create}, and point each send work
 * request with {@link org.udckpt.ud.disni.UdAddressHandle#aim}. The native half is {@code libdisni.so}; it must lie on
 * {@code java.library.path}, and the JVM needs {@code --add-exports=java.base/sun.nio.ch=ALL-UNNAMED}.
 */
package org.udckpt.ud.disni;
