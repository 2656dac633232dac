package org.udckpt.transport;

import io.netty.channel.EventLoopGroup;
import io.netty.handler.ssl.SslContext;
import java.net.InetAddress;
import java.util.concurrent.ExecutorService;
import org.apache.arrow.memory.BufferAllocator;

/**
 * What all connections of an endpoint share.
 *
 * @param node  this end's number
 * @param own   the address that it listens at and speaks from
 * @param loops of Netty, one thread
 * @param calls where calls run, a virtual thread each
 * @param places for connections to others
 */
record LinkContext(int node, InetAddress own, JobCredential credential, TransportLimits limits, SslContext clientTls,
        EventLoopGroup loops,
        ExecutorService calls, BufferAllocator allocator, ConnectionPool places) {}
