# Two hosts in one guest. rdma_rxe in a network namespace does not work on Linux 6.1, so the two devices and the veth
# pair between them stay in the first one; namespaces h1 and h2 give the processes of a host their own sockets.
modprobe rdma_rxe
modprobe ib_uverbs
modprobe veth

# A pair of network devices NAME1, NAME2 with the addresses 10.NET.0.1 and .2; large frames, so that the verbs MTU is
# 4096.
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

# devices A B NAME NET: rxe devices rxeA and rxeB over a new pair, in place of those that are there: other names, other
# GIDs.
devices() {
    no_devices
    pair "$3" "$4"
    rdma link add "rxe$1" type rxe netdev "${3}1"
    rdma link add "rxe$2" type rxe netdev "${3}2"
}

no_devices() { rdma link | awk '{ sub("/.*", "", $2); print $2 }' | xargs -r -n 1 rdma link delete; }

devices 1 2 v 1

. "$lab/namespaces.sh"
two_namespaces
