# Namespaces h1 and h2, hosts with sockets of their own, joined by a veth pair: w1 in the first, w2 in the second.
two_namespaces() {
    local h
    ip link add w1 type veth peer name w2
    for h in 1 2; do
        ip netns add h$h
        ip link set w$h netns h$h
        ip -n h$h link set lo up
        ip -n h$h link set w$h up
        ip -n h$h addr add 10.2.0.$h/24 dev w$h
    done
}
