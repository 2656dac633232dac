# A job on two hosts is checkpointed, killed, and goes on over other devices, other GIDs and other QPNs.

# Real addresses of the job's queue pairs, one a line: rank GID QPN. This is `udckpt status`, asked as
# docs/reference/control-protocol.md says: to start a JVM takes ten seconds in here.
endpoints() {
    perl -MIO::Socket::UNIX -e '
        my $agent = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die "$ARGV[0]: $!\n";
        $agent->print("{\"verb\":\"status\"}\n");
        my ($rank, $answer) = (0, scalar <$agent>);
        while ($answer =~ /"rank":(\d+)|"real":\{([^}]*)\}/g) {
            if (defined $1) { $rank = $1; next }
            my $real = $2;
            print "$rank $1 " if $real =~ /"gid":"([^"]*)"/;
            print "$1\n" if $real =~ /"qpn":(\d+)/;
        }' "/dev/shm/udckpt-0/$1/command.sock" | sort
}

# different BEFORE AFTER: as many, and no GID and no QPN of a rank as before.
different() {
    cat "$1" "$2"
    [ -s "$1" ] && [ "$(wc -l <"$1")" = "$(wc -l <"$2")" ] &&
        ! cut -d' ' -f2 "$1" | grep -qxFf - <(cut -d' ' -f2 "$2") &&
        ! cut -d' ' -f1,3 "$1" | grep -qxFf - <(cut -d' ' -f1,3 "$2")
}

# others BEFORE AFTER: as many, and no GID as before; new devices count their queue pairs as those before them did.
others() {
    cat "$1" "$2"
    [ -s "$1" ] && [ "$(wc -l <"$1")" = "$(wc -l <"$2")" ] && ! cut -d' ' -f2 "$1" | grep -qxFf - <(cut -d' ' -f2 "$2")
}

# killed_after_checkpoint NAME IMAGE HOSTS DEVICES: the job NAME, whose transports are in $UCX_TLS, and what is left of
# it.
killed_after_checkpoint() {
    : >"$brake"
    the_job "$1" udckpt run -n 2 --name "$1" --dir "$2" --hosts "$3" --device "$4" -- \
        "$programs/stencil_cg" $solve --brake "$brake"
    step "an MPI job over $4, $UCX_TLS" computes "$1"
    endpoints "$1" >"/tmp/endpoints.$1"
    step "checkpoint and kill" udckpt checkpoint "$1" --then kill
    step "the killed job ends" ended_well "$1"
}

# restarted NAME IMAGE DEVICES
restarted() {
    local two=$1-again
    the_job "$two" udckpt restart "$2" --name "$two" --device "$3"
    step "restart over $3: the job computes on" computes "$two"
    endpoints "$two" >"/tmp/endpoints.$two"
    step "other GIDs and other QPNs" different "/tmp/endpoints.$1" "/tmp/endpoints.$two"
    paste "/tmp/endpoints.$1" "/tmp/endpoints.$two" |
        awk '{ printf "        rank %s: GID %s QPN 0x%06x -> GID %s QPN 0x%06x\n", $1, $2, $3, $5, $6 }'
    rm "$brake"
    step "it ends well" ended_well "$two"
    right_answer "$1" "$two"
}

over_datagrams() {
    export UCX_TLS=ud_verbs,self
    killed_after_checkpoint ud "$share/image" a:1,b:1 rxe1,rxe2
    cp /tmp/ud.out "$share/"
    devices 7 8 u 3
    restarted ud "$share/image" rxe8,rxe7
}

# pair_of PROGRAM DEVICE DEVICE OPTION...: without the library
pair_of() {
    local server
    "$1" -d "$2" "${@:4}" &
    server=$!
    sleep 1.5
    "$1" -d "$3" "${@:4}" 127.0.0.1 && wait $server
}

# Each process has both devices, and its messages go over both.
over_connections() {
    export UCX_TLS=rc_v,self UCX_MAX_EAGER_RAILS=2 UCX_MAX_RNDV_RAILS=2
    killed_after_checkpoint rc /tmp/image a:2 rxe7+rxe8
    devices 5 6 x 5
    # New devices count their queue pairs from the beginning, where the job's old numbers are.
    step "ibv_srq_pingpong over them" pair_of ibv_srq_pingpong rxe5 rxe6 -g 1 -n 10
    restarted rc /tmp/image rxe6+rxe5
}

tells_writes() { printf '6.7\n%s\n' "$(uname -r)" | sort -VC; }

# What a device writes leaves no trace in the page tables. Where the kernel says what else was written (Linux 6.7), the
# rest of the memory is not read; here it is, and compared. Messages large enough for UCX to have the device write them
# straight into buffers that the job itself only reads.
tracked_memory() {
    tells_writes || return 0
    : >"$brake"
    UCX_RNDV_THRESH=1024 the_job tracked udckpt run -n 2 --name tracked --dir /tmp/tracked --full-interval 9 \
        --verify-tracking --device rxe5,rxe6 -- "$programs/stencil_cg" --grid 40 --iterations 2 --solves 150 \
        --brake "$brake"
    step "an MPI job over rxe5 and rxe6, $UCX_TLS, whose writes are tracked" computes tracked
    step "its memory is pinned" pinned
    for _ in 1 2 3; do
        step "checkpoint: what nobody has written to is as before" udckpt checkpoint tracked
        sleep 2
    done
    rm "$brake"
    step "it ends well" ended_well tracked
    step "some of its memory was not read" unread /tmp/tracked
    the_job tracked-again udckpt restart /tmp/tracked --name tracked-again --device rxe6,rxe5
    step "restart of it ends well" ended_well tracked-again
    for name in tracked tracked-again; do grep '^checksum' "/tmp/$name.out" >"/tmp/$name.sum"; done
    same "the answer is that of the run that went on" /tmp/tracked.sum /tmp/tracked-again.sum
}

pinned() {
    pgrep -x stencil_cg | sed 's,.*,/proc/&/status,' | xargs grep -h VmPin | grep -v ' 0 kB'
}

# unread DIRECTORY: pages of its newest checkpoint, and not just a few. UCX registers most of what a small job has.
unread() {
    udckpt inspect "$1" | tee /dev/stderr | awk '$1 == "pages" { n = $2 } END { exit !(n > 500) }'
}

# hosts_job NAME VERB OPTION...: a job whose hosts have agents of their own, which an emulated machine starts slowly.
hosts_job() {
    local name=$1 verb=$2
    shift 2
    the_job "$name" udckpt "$verb" --starter local --start-timeout 300s --heartbeat-timeout 60s "$@"
}

# Where the ranks of two units are: rank GID QPN.
endpoints_of_hosts() { { endpoints "$1.a"; endpoints "$1.b"; } | sort; }

# over_hosts TRANSPORT NET: one process on each of two hosts; addresses, the hosts of GIDs and remote keys go from agent
# to agent.
over_hosts() {
    local name=hosts-$1 again=hosts-$1-again image=/tmp/image-$1
    export UCX_TLS=$1,self
    devices 1 2 "a$2x" "$2"
    : >"$brake"
    hosts_job "$name" run --name "$name" --dir "$image" --hosts a:1,b:1 --device rxe1,rxe2 -- \
        "$programs/stencil_cg" $solve --brake "$brake"
    step "two hosts with an agent each, over rxe1 and rxe2, $UCX_TLS" computes "$name"
    endpoints_of_hosts "$name" >"/tmp/endpoints.$name"
    step "checkpoint and kill" udckpt checkpoint "$name" --then kill
    step "the killed job ends" ended_well "$name"
    devices 7 8 "b$2x" "$(($2 + 1))"
    hosts_job "$again" restart "$image" --name "$again" --hosts c,d --device rxe8,rxe7
    step "restart on two other hosts over rxe8 and rxe7: the job computes on" computes "$again"
    endpoints_of_hosts "$again" >"/tmp/endpoints.$again"
    step "other GIDs" others "/tmp/endpoints.$name" "/tmp/endpoints.$again"
    rm "$brake"
    step "it ends well" ended_well "$again"
    right_answer "$name" "$again"
    hosts_job "$again-soft" restart "$image" --name "$again-soft" --hosts c,d --device soft
    step "restart on two hosts of the soft fabric ends well" ended_well "$again-soft"
    right_answer "$name" "$again-soft"
}

# No RDMA at all: neither devices nor the kernel's verbs.
no_rdma() {
    no_devices
    modprobe -r rdma_rxe
    modprobe -r ib_uverbs
    [ ! -e /dev/infiniband/uverbs0 ] && [ -z "$(ls /sys/class/infiniband 2>/dev/null)" ]
}

# The image of the datagrams again, where there is only the soft fabric.
without_rdma() {
    step "the kernel's RDMA is gone" no_rdma
    : >"$brake"
    the_job soft udckpt restart "$share/image" --name soft
    step "restart on the soft fabric: the job computes on" computes soft
    step "gdb attaches to a rank" gdb_sees "$(pgrep -o -x stencil_cg)"
    rm "$brake"
    step "it ends well" ended_well soft
    right_answer ud soft
}
