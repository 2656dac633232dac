# An MPI job on two hosts whose way to each other is late, loses, doubles and reorders by the kernel's netem, and is cut
# for some
# seconds: it goes on, is checkpointed, killed and restarted, and its answer is that of an undisturbed run.

# Each has a block of the soft fabric's addresses.
two_hosts() {
    local h
    two_namespaces
    for h in 1 2; do
        ip -n h$h route add local 10.9.$h.0/24 dev lo
        ip -n h$h route add 10.9.$((3 - h)).0/24 via 10.2.0.$((3 - h))
    done
}

# on_the_way WORD...: at both ends of the pair, for tc-netem(8)
on_the_way() {
    local h
    for h in 1 2; do
        ip netns exec h$h tc qdisc replace dev w$h root netem "$@"
    done
}

bad_network() { on_the_way delay 10ms 5ms loss 2% duplicate 1% reorder 2%; }

# Shorter than the lease, so that nobody is lost.
cut_for_a_while() {
    on_the_way loss 100%
    sleep 8
    bad_network
}

# netem_job NAME VERB OPTION...: the lead is on h1.
netem_job() {
    local name=$1 verb=$2
    shift 2
    the_job "$name" ip netns exec h1 env UDCKPT_SOFT_NET=10.9 udckpt "$verb" \
        --starter 'ip netns exec {host}' --lead-address 10.2.0.1 --start-timeout 400s --lease 60s "$@"
}

solves() { grep -c '^solve' "$here/$1.out"; }

# goes_on NAME: it has printed another solve.
goes_on() {
    local before
    before=$(solves "$1")
    until [ "$(solves "$1")" -gt "$before" ]; do
        kill -0 "$job" 2>/dev/null || { show "$1"; return 1; }
        sleep 0.3
    done
}

job_by_netem() {
    local program=("$programs/stencil_cg" --grid 8 --iterations 10 --solves 60)
    two_hosts
    udckpt run -n 2 --name alone --device soft --dir /tmp/unused -- "${program[@]}" \
        >"$here/alone.out" 2>"$here/alone.err"
    grep '^solve\|^checksum' "$here/alone.out" >"$share/answer"
    step "the answer of an undisturbed run" test -s "$share/answer"
    bad_network
    netem_job bad run --name bad --dir /tmp/bad --hosts h1:1,h2:1 --device soft -- "${program[@]}"
    step "an MPI job over 10 ms, 2% of loss, doubles and reordering by netem" computes bad
    step "a cut of 8 s" cut_for_a_while
    step "it goes on" goes_on bad
    step "checkpoint and kill over the bad network" udckpt checkpoint bad --then kill
    step "the killed job ends" ended_well bad
    netem_job bad-again restart /tmp/bad --name bad-again
    step "restart over it" computes bad-again
    step "it ends well" ended_well bad-again
    right_answer bad bad-again
    ip netns exec h1 tc -s qdisc show dev w1
    step "netem has lost frames" eval "ip netns exec h1 tc -s qdisc show dev w1 | grep -q 'dropped [1-9]'"
}
