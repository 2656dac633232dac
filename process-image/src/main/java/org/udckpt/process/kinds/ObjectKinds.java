package org.udckpt.process.kinds;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.udckpt.process.kinds.aio.AioContextKind;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.DescriptorKind;
import org.udckpt.process.kinds.base.InFlight;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.MadeHere;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.kinds.base.ObjectOwners;
import org.udckpt.process.kinds.binaryoption.BinaryOptionKind;
import org.udckpt.process.kinds.cgroup.ControlGroupFileKind;
import org.udckpt.process.kinds.cgroup.ControlGroupKind;
import org.udckpt.process.kinds.cgroup.ControlGroupMemberKind;
import org.udckpt.process.kinds.deleted.DeletedDirectoryKind;
import org.udckpt.process.kinds.deleted.DeletedLinkKind;
import org.udckpt.process.kinds.deleted.DeletedWorkingDirectoryKind;
import org.udckpt.process.kinds.deleted.OpenDeletedDirectoryKind;
import org.udckpt.process.kinds.epoll.EpollEntryKind;
import org.udckpt.process.kinds.epoll.EpollKind;
import org.udckpt.process.kinds.eventfd.EventFdKind;
import org.udckpt.process.kinds.file.FormerNameKind;
import org.udckpt.process.kinds.file.OpenFileKind;
import org.udckpt.process.kinds.filter.SocketFilterKind;
import org.udckpt.process.kinds.inotify.FanotifyGroupKind;
import org.udckpt.process.kinds.inotify.FanotifyMarkKind;
import org.udckpt.process.kinds.inotify.InotifyKind;
import org.udckpt.process.kinds.iouring.IoUringKind;
import org.udckpt.process.kinds.iouring.RingRegistrationKind;
import org.udckpt.process.kinds.ipc.MessageQueueKind;
import org.udckpt.process.kinds.ipc.SemaphoreSetKind;
import org.udckpt.process.kinds.ipc.SemaphoreUndoKind;
import org.udckpt.process.kinds.lock.FileLockKind;
import org.udckpt.process.kinds.memory.MappedFileKind;
import org.udckpt.process.kinds.memory.SharedMemoryKind;
import org.udckpt.process.kinds.mount.EarlierPathKind;
import org.udckpt.process.kinds.mount.FilesystemEntryKind;
import org.udckpt.process.kinds.mount.JobFilesystemKind;
import org.udckpt.process.kinds.mount.JobMountKind;
import org.udckpt.process.kinds.mount.NamespaceMemberKind;
import org.udckpt.process.kinds.mount.OutsidePathKind;
import org.udckpt.process.kinds.mount.OverlayLayerKind;
import org.udckpt.process.kinds.mount.ProcFilesystemKind;
import org.udckpt.process.kinds.mqueue.OpenPosixQueueKind;
import org.udckpt.process.kinds.mqueue.PosixQueueKind;
import org.udckpt.process.kinds.named.DirectoryOrDeviceKind;
import org.udckpt.process.kinds.named.EndedProcessFileKind;
import org.udckpt.process.kinds.named.PseudoFileKind;
import org.udckpt.process.kinds.named.RemovedDeviceKind;
import org.udckpt.process.kinds.named.RootDirectoryKind;
import org.udckpt.process.kinds.named.ThreadDirectoryKind;
import org.udckpt.process.kinds.namespace.CgroupNamespaceKind;
import org.udckpt.process.kinds.namespace.CgroupNamespaceMemberKind;
import org.udckpt.process.kinds.namespace.IpcNamespaceKind;
import org.udckpt.process.kinds.namespace.IpcNamespaceMemberKind;
import org.udckpt.process.kinds.namespace.IpcPlaceKind;
import org.udckpt.process.kinds.namespace.IpcSettingKind;
import org.udckpt.process.kinds.namespace.NamespaceFileKind;
import org.udckpt.process.kinds.namespace.NamespaceFilePlaceKind;
import org.udckpt.process.kinds.namespace.NamespaceOwnerKind;
import org.udckpt.process.kinds.namespace.NetworkNamespaceKind;
import org.udckpt.process.kinds.namespace.NetworkNamespaceMemberKind;
import org.udckpt.process.kinds.namespace.PidNamespaceKind;
import org.udckpt.process.kinds.namespace.PidNamespaceMemberKind;
import org.udckpt.process.kinds.namespace.SocketNetworkKind;
import org.udckpt.process.kinds.namespace.TimeNamespaceKind;
import org.udckpt.process.kinds.namespace.TimeNamespaceMemberKind;
import org.udckpt.process.kinds.namespace.UserNamespaceKind;
import org.udckpt.process.kinds.namespace.UserNamespaceMemberKind;
import org.udckpt.process.kinds.namespace.UtsNamespaceKind;
import org.udckpt.process.kinds.namespace.UtsNamespaceMemberKind;
import org.udckpt.process.kinds.netlink.NetlinkPeerKind;
import org.udckpt.process.kinds.netlink.NetlinkSocketKind;
import org.udckpt.process.kinds.packet.LinkSocketKind;
import org.udckpt.process.kinds.pidfd.PidFdKind;
import org.udckpt.process.kinds.pipe.PipeEndKind;
import org.udckpt.process.kinds.pipe.PipeKind;
import org.udckpt.process.kinds.raw.RawSocketKind;
import org.udckpt.process.kinds.replaced.AgentConnectionKind;
import org.udckpt.process.kinds.replaced.PmiConnectionKind;
import org.udckpt.process.kinds.replaced.StandardStreamKind;
import org.udckpt.process.kinds.seccomp.SeccompFilterKind;
import org.udckpt.process.kinds.signal.SignalOnReadyKind;
import org.udckpt.process.kinds.signal.SignalOwnerKind;
import org.udckpt.process.kinds.signalfd.SignalFdKind;
import org.udckpt.process.kinds.tcp.TcpSocketKind;
import org.udckpt.process.kinds.terminal.TerminalEndKind;
import org.udckpt.process.kinds.terminal.TerminalKind;
import org.udckpt.process.kinds.thread.ThreadDescriptorKind;
import org.udckpt.process.kinds.timerfd.TimerFdKind;
import org.udckpt.process.kinds.udp.UdpShutdownKind;
import org.udckpt.process.kinds.udp.UdpSocketKind;
import org.udckpt.process.kinds.udp.UdpUnsentKind;
import org.udckpt.process.kinds.unix.CredentialsInFlightKind;
import org.udckpt.process.kinds.unix.DescriptorInFlightKind;
import org.udckpt.process.kinds.unix.GonePeerKind;
import org.udckpt.process.kinds.unix.OwnSocketFileKind;
import org.udckpt.process.kinds.unix.SenderNameKind;
import org.udckpt.process.kinds.unix.UnixOptionsKind;
import org.udckpt.process.kinds.unix.UnixSocketKind;
import org.udckpt.process.kinds.unix.WaitingConnectionKind;
import org.udckpt.process.kinds.unix.WaitingMessagesKind;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.KernelObject;

/**
 * All kinds of kernel objects. A new kind is a folder beside the others and a line at the end of this list: capture,
 * restore, check and display go through it. The columns of the image's table of objects come in this order, and older
 * images have those of the first kinds only: no line moves.
 */
public enum ObjectKinds {
    /** Open regular files. */
    OPEN_FILE(new OpenFileKind()),
    /** Shared memory, deleted files. */
    SHARED_MEMORY(new SharedMemoryKind()),
    /** Pipes and FIFOs. */
    PIPE(new PipeKind()),
    /** Ends of pipes. */
    PIPE_END(new PipeEndKind()),
    /** eventfd(2). */
    EVENT_FD(new EventFdKind()),
    /** timerfd_create(2). */
    TIMER_FD(new TimerFdKind()),
    /** epoll(7). */
    EPOLL(new EpollKind()),
    /** What one watches. */
    EPOLL_ENTRY(new EpollEntryKind()),
    /** unix(7). */
    UNIX_SOCKET(new UnixSocketKind()),
    /** The name of a peer that has closed. */
    GONE_PEER(new GonePeerKind()),
    /** flock(2), fcntl(2). */
    FILE_LOCK(new FileLockKind()),
    /** O_ASYNC. */
    SIGNAL_ON_READY(new SignalOnReadyKind()),
    /** F_SETOWN. */
    SIGNAL_OWNER(new SignalOwnerKind()),
    /** Programs and libraries. */
    MAPPED_FILE(new MappedFileKind()),
    /** signalfd(2). */
    SIGNAL_FD(new SignalFdKind()),
    /** inotify(7). */
    INOTIFY(new InotifyKind()),
    /** Directories, devices without a state, O_PATH. */
    DIRECTORY_OR_DEVICE(new DirectoryOrDeviceKind()),
    /** Files of /proc and /sys. */
    PSEUDO_FILE(new PseudoFileKind()),
    /** The library's connection. */
    AGENT_CONNECTION(new AgentConnectionKind()),
    /** The process manager's. */
    PMI_CONNECTION(new PmiConnectionKind()),
    /** The launcher's streams. */
    STANDARD_STREAM(new StandardStreamKind()),
    /** Options of unix sockets. */
    UNIX_OPTIONS(new UnixOptionsKind()),
    /** tcp(7), in a table of its own. */
    TCP_SOCKET(new TcpSocketKind()),
    /** udp(7), in a table with netlink(7). */
    UDP_SOCKET(new UdpSocketKind()),
    /** netlink(7). */
    NETLINK_SOCKET(new NetlinkSocketKind()),
    /** pty(7), in a table of its own. */
    TERMINAL(new TerminalKind()),
    /** An end of one. */
    TERMINAL_END(new TerminalEndKind()),
    /** pidfd_open(2). */
    PID_FD(new PidFdKind()),
    /** Directories that were removed. */
    DELETED_DIRECTORY(new DeletedDirectoryKind()),
    /** Open ones. */
    OPEN_DELETED_DIRECTORY(new OpenDeletedDirectoryKind()),
    /** Processes in one. */
    DELETED_WORKING_DIRECTORY(new DeletedWorkingDirectoryKind()),
    /** Names that open files have lost. */
    FORMER_NAME(new FormerNameKind()),
    /** SO_ATTACH_FILTER. */
    SOCKET_FILTER(new SocketFilterKind()),
    /** What is in the queue of a unix socket: descriptors. */
    DESCRIPTOR_IN_FLIGHT(new DescriptorInFlightKind()),
    /** Senders. */
    CREDENTIALS_IN_FLIGHT(new CredentialsInFlightKind()),
    /** Connections that nobody has accepted. */
    WAITING_CONNECTION(new WaitingConnectionKind()),
    /** Names of senders of datagrams. */
    SENDER_NAME(new SenderNameKind()),
    /** semget(2). */
    SEMAPHORE_SET(new SemaphoreSetKind()),
    /** msgget(2). */
    MESSAGE_QUEUE(new MessageQueueKind()),
    /** SEM_UNDO. */
    SEMAPHORE_UNDO(new SemaphoreUndoKind()),
    /** shutdown(2) of udp(7). */
    UDP_SHUTDOWN(new UdpShutdownKind()),
    /** IP_OPTIONS, IPV6_HOPOPTS. */
    BINARY_OPTION(new BinaryOptionKind()),
    /** raw(7), icmp(7). */
    RAW_SOCKET(new RawSocketKind()),
    /** proc(5), of what has ended. */
    ENDED_PROCESS_FILE(new EndedProcessFileKind()),
    /** namespaces(7). */
    NAMESPACE_FILE(new NamespaceFileKind()),
    /** seccomp(2). */
    SECCOMP_FILTER(new SeccompFilterKind()),
    /** chroot(2). */
    ROOT_DIRECTORY(new RootDirectoryKind()),
    /** mount_namespaces(7). */
    JOB_MOUNT(new JobMountKind()),
    /** What only these have mounted. */
    JOB_FILESYSTEM(new JobFilesystemKind()),
    /** Their files. */
    FILESYSTEM_ENTRY(new FilesystemEntryKind()),
    /** Who is in one. */
    NAMESPACE_MEMBER(new NamespaceMemberKind()),
    /** Files from before. */
    OUTSIDE_PATH(new OutsidePathKind()),
    /** io_uring(7). */
    IO_URING(new IoUringKind()),
    /** io_setup(2). */
    AIO_CONTEXT(new AioContextKind()),
    /** What connections that nobody has accepted have received. */
    WAITING_MESSAGES(new WaitingMessagesKind()),
    /** packet(7). */
    LINK_SOCKET(new LinkSocketKind()),
    /** connect(2) of netlink(7). */
    NETLINK_PEER(new NetlinkPeerKind()),
    /** symlink(2), of which only a handle is left. */
    DELETED_LINK(new DeletedLinkKind()),
    /** cgroups(7). */
    CONTROL_GROUP(new ControlGroupKind()),
    /** Their settings. */
    CONTROL_GROUP_FILE(new ControlGroupFileKind()),
    /** Who is in one. */
    CONTROL_GROUP_MEMBER(new ControlGroupMemberKind()),
    /** In a restore made by that of {@link #JOB_MOUNT}, as the next ones. */
    USER_NAMESPACE(new UserNamespaceKind()),
    USER_NAMESPACE_MEMBER(new UserNamespaceMemberKind()),
    NAMESPACE_OWNER(new NamespaceOwnerKind()),
    UTS_NAMESPACE(new UtsNamespaceKind()),
    UTS_NAMESPACE_MEMBER(new UtsNamespaceMemberKind()),
    TIME_NAMESPACE(new TimeNamespaceKind()),
    TIME_NAMESPACE_MEMBER(new TimeNamespaceMemberKind()),
    /** Open namespaces of other processes. */
    NAMESPACE_FILE_PLACE(new NamespaceFilePlaceKind()),
    /** mq_overview(7). */
    POSIX_QUEUE(new PosixQueueKind()),
    /** mq_open(3). */
    OPEN_POSIX_QUEUE(new OpenPosixQueueKind()),
    /** mknod(2), of which only the open file is left. */
    REMOVED_DEVICE(new RemovedDeviceKind()),
    /** bind(2) of unix(7) in a mount namespace. */
    OWN_SOCKET_FILE(new OwnSocketFileKind()),
    /** fanotify(7). */
    FANOTIFY_GROUP(new FanotifyGroupKind()),
    /** What one watches. */
    FANOTIFY_MARK(new FanotifyMarkKind()),
    /** network_namespaces(7); in a restore made by that of {@link #JOB_MOUNT}, as the next one. */
    NETWORK_NAMESPACE(new NetworkNamespaceKind()),
    NETWORK_NAMESPACE_MEMBER(new NetworkNamespaceMemberKind()),
    /** Which sockets are in one. */
    SOCKET_NETWORK(new SocketNetworkKind()),
    /** pid_namespaces(7). */
    PID_NAMESPACE(new PidNamespaceKind()),
    PID_NAMESPACE_MEMBER(new PidNamespaceMemberKind()),
    PROC_FILESYSTEM(new ProcFilesystemKind()),
    /** ipc_namespaces(7). */
    IPC_NAMESPACE(new IpcNamespaceKind()),
    IPC_NAMESPACE_MEMBER(new IpcNamespaceMemberKind()),
    IPC_SETTING(new IpcSettingKind()),
    /** What is in one. */
    IPC_PLACE(new IpcPlaceKind()),
    /** cgroup_namespaces(7). */
    CGROUP_NAMESPACE(new CgroupNamespaceKind()),
    CGROUP_NAMESPACE_MEMBER(new CgroupNamespaceMemberKind()),
    /** Of a {@link #JOB_FILESYSTEM}. */
    OVERLAY_LAYER(new OverlayLayerKind()),
    /** What is registered with an io_uring. */
    RING_REGISTRATION(new RingRegistrationKind()),
    /** unshare(2). */
    THREAD_DIRECTORY(new ThreadDirectoryKind()),
    THREAD_DESCRIPTOR(new ThreadDescriptorKind()),
    /** What is mapped and executed since before. */
    EARLIER_PATH(new EarlierPathKind()),
    /** UDP_CORK and MSG_MORE of udp(7). */
    UDP_UNSENT(new UdpUnsentKind());

    private static final Map<Class<?>, ObjectKind<?>> BY_RECORD = new HashMap<>();

    static {
        for (ObjectKinds one : values()) {
            BY_RECORD.put(one.kind.record(), one.kind);
        }
    }

    private final ObjectKind<?> kind;

    ObjectKinds(ObjectKind<?> kind) {
        this.kind = kind;
    }

    /** The description of this kind. */
    public ObjectKind<?> kind() {
        return kind;
    }

    /**
     * The kind of a record.
     *
     * @throws IllegalArgumentException none has this record
     */
    @SuppressWarnings("unchecked") // a kind is found by its record
    public static <T> ObjectKind<T> of(T object) {
        ObjectKind<?> kind = BY_RECORD.get(object.getClass());
        if (kind == null) {
            throw new IllegalArgumentException(
                    object.getClass().getName() + " is the record of no kind in " + ObjectKinds.class.getSimpleName());
        }
        return (ObjectKind<T>) kind;
    }

    /** Whether it is known by where the descriptor comes from. */
    public boolean given() {
        return kind instanceof DescriptorKind<?> descriptor && descriptor.given();
    }

    /** The parts of all kinds in one capture, in this order. */
    public static Map<ObjectKinds, KindCapture> captures(CaptureScope scope) {
        Map<ObjectKinds, KindCapture> captures = new EnumMap<>(ObjectKinds.class);
        for (ObjectKinds one : values()) {
            captures.put(one, one.kind.capture(scope));
        }
        return captures;
    }

    /** What of an image is made in this process, in this order. */
    public static List<MadeHere> madeHere(JobImage image, ObjectOwners owners) {
        return Arrays.stream(values())
                .map(one -> one.kind instanceof DescriptorKind<?> descriptor ? descriptor.madeHere(image, owners)
                        : null)
                .filter(Objects::nonNull)
                .toList();
    }

    /** What of an image is in flight and may be in no process, by object, with the pid of {@link InFlight}. */
    public static Map<Long, Integer> inFlight(JobImage image) {
        Map<Long, Integer> pids = new HashMap<>();
        for (KernelObject object : image.objects()) {
            InFlight one = of(object).inFlight(object);
            if (one != null) {
                pids.putIfAbsent(one.object(), one.pid());
            }
        }
        return pids;
    }

    /** The records of the image's table of objects, in the order that decides about its columns. */
    public static List<Class<? extends KernelObject>> records() {
        return Arrays.stream(values()).map(one -> one.kind.record()).filter(KernelObject.class::isAssignableFrom)
                .<Class<? extends KernelObject>>map(one -> one.asSubclass(KernelObject.class)).toList();
    }
}
