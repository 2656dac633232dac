# Two hosts in one guest. rdma_rxe in a network namespace does not work on Linux 6.1, so the two devices and the veth pair
# between them stay in the first one; namespaces h1 and h2 give the processes of a host their own sockets.
modprobe rdma_rxe
modprobe ib_uverbs
modprobe veth

# A pair of network devices NAME1, NAME2 with the addresses 10.NET.0.1 and .2; large frames, so that the verbs MTU is 4096.
pair() {
    local name=$1 net=$2 h
    ip link add "${name}1" mtu 4200 type veth peer name "${name}2" mtu 4200
    for h in 1 2; do
        sysctl -qw "net.ipv4.conf.$name$h.rp_filter=0" "net.ipv4.conf.$name$h.accept_local=1"
        ip link set "$name$h" up
        ip addr add "10.$net.0.$h/24" dev "$name$h"
    done
}

sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0 net.ipv4.conf.all.accept_local=1
pair v 1
rdma link add rxe1 type rxe netdev v1
rdma link add rxe2 type rxe netdev v2

# Other devices, for after a restart: other names, GIDs and queue pair numbers.
other_devices() {
    rdma link delete rxe1
    rdma link delete rxe2
    pair u 3
    rdma link add rxe7 type rxe netdev u1
    rdma link add rxe8 type rxe netdev u2
}

ip link add w1 type veth peer name w2
for h in 1 2; do
    ip netns add h$h
    ip link set w$h netns h$h
    ip -n h$h link set lo up
    ip -n h$h link set w$h up
    ip -n h$h addr add 10.2.0.$h/24 dev w$h
done
