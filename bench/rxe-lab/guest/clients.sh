# Clients that nobody here wrote, between the two devices, each on its own host.

# On the host of device 1 or 2, under the library or (plain) without it.
on() {
    local h=$1
    shift
    if [ -n "${plain-}" ]; then
        ip netns exec h"$h" "$@"
    else
        ip netns exec h"$h" env LD_PRELOAD="$root/native/target/cmake/libudckpt.so" UDCKPT_DEVICE="rxe$h" "$@"
    fi
}

# client_pair PROGRAM OPTION...: a server on h1 and its client on h2.
client_pair() {
    local program=$1 server code=0
    shift
    on 1 timeout 90 "$program" -d rxe1 "$@" >/tmp/server 2>&1 &
    server=$!
    sleep 1.5
    on 2 timeout 90 "$program" -d rxe2 "$@" 10.2.0.1 || code=$?
    wait $server || { code=$?; sed 's/^/server: /' /tmp/server; }
    return $code
}

mpi_clients() {
    step "MPICH, ud_verbs, both ranks on one device" \
        env UCX_TLS=ud_verbs,self UCX_NET_DEVICES=rxe1:1 UCX_UD_VERBS_ETH_DGID_CHECK=n \
        mpiexec -n 2 "$programs/stencil_cg" --grid 8 --iterations 10 --solves 2
    step "MPICH, rc_v" env UCX_TLS=rc_v,self UCX_NET_DEVICES=rxe1:1 UCX_UD_VERBS_ETH_DGID_CHECK=n \
        mpiexec -n 2 "$programs/stencil_cg" --grid 8 --iterations 10 --solves 2
}

plain_clients() {
    plain=1 step "ibv_ud_pingpong" client_pair ibv_ud_pingpong -g 1 -n 50 -e
    plain=1 step "ibv_rc_pingpong" client_pair ibv_rc_pingpong -g 1 -n 50 -e
    mpi_clients
}

virtual_clients() {
    step "ibv_devinfo, virtualized" on 1 ibv_devinfo -v
    step "ibv_ud_pingpong, virtualized, by IPv4 address" client_pair ibv_ud_pingpong -g 1 -n 50 -e
    step "ibv_ud_pingpong, virtualized, by link-local address" client_pair ibv_ud_pingpong -g 0 -n 50 -e
    step "ib_send_lat -c UD, virtualized" client_pair ib_send_lat -c UD -x 1 -n 50 -s 1024
    step "ib_send_bw -c UD, virtualized" client_pair ib_send_bw -c UD -x 1 -n 200 -s 1024
    step "ibv_rc_pingpong, virtualized" client_pair ibv_rc_pingpong -g 1 -n 50 -e
    step "ibv_srq_pingpong, virtualized" client_pair ibv_srq_pingpong -g 1 -n 50 -e
    step "ib_write_bw, virtualized" client_pair ib_write_bw -x 1 -n 200 -s 4096
    step "ib_read_lat, virtualized" client_pair ib_read_lat -x 1 -n 50 -s 1024
    step "ib_atomic_lat, virtualized" client_pair ib_atomic_lat -x 1 -n 50
    UDCKPT_VIRTUALIZE=0 step "ibv_rc_pingpong, the bare device under the library" \
        client_pair ibv_rc_pingpong -g 1 -n 50 -e
}

# Clients that are not linked with libibverbs and find it in ways of their own
# (native/src/test/c/interposer/found_client.c).
found_clients() {
    local way
    : >/tmp/finish
    for way in dlsym dlvsym deepbind plugin plugin-deepbind default next dlmopen; do
        step "a client that finds libibverbs itself: $way" \
            on 1 timeout 90 "$root/native/target/cmake/tests/found_client" "$way" /tmp/finish
    done
}

# refused NAME WORDS: a checkpoint of the job is, with code 69, and the message has the words.
refused() {
    local code=0
    udckpt checkpoint "$1" >/tmp/refused 2>&1 || code=$?
    cat /tmp/refused
    [ $code = 69 ] && grep -qF -- "$2" /tmp/refused
}

# What goes past the library: system calls of the program's own.
past_the_library() {
    the_job raw udckpt run -n 1 --name raw --dir /tmp/raw --device rxe1 -- perl -e '
        my $path = "/dev/infiniband/uverbs0";
        open(my $refused, "+<", $path) and die "was not refused\n";
        my $fd = syscall(2, $path, 2);
        $| = 1;
        print "solve $fd\n";
        sleep 600'
    step "a program opens a device by a system call" computes raw
    step "its checkpoint is refused by name" refused raw "/dev/infiniband/uverbs0 was opened behind the library"
    step "the open by the C library was refused" \
        grep -q "open of /dev/infiniband/uverbs0 is not supported" "$here/raw.err"
    kill "$job"
    wait "$job" || true
}
