# A job on two hosts is checkpointed, killed, and goes on over other devices, other GIDs and other QPNs.

# Real addresses of the job's queue pairs, one a line: rank GID QPN.
endpoints() {
    udckpt status "$1" --json 2>/tmp/status.err >/tmp/status.json || cat /tmp/status.err
    awk '/"rank" :/ { rank = $3 } /"real" :/ { real = 1 } real && /"gid" :/ { gid = $3 } real && /"qpn" :/ { print rank, gid, $3; real = 0 }
        ' /tmp/status.json | tr -d ',"' | sort
}

await_line() {
    local tries=0
    until grep -q "$1" "$2" 2>/dev/null; do
        sleep 0.5
        tries=$((tries + 1))
        [ $tries -lt 240 ] || return 1
    done
}

# different BEFORE AFTER: as many, and no GID and no QPN of a rank as before.
different() {
    cat "$1" "$2"
    [ -s "$1" ] && [ "$(wc -l <"$1")" = "$(wc -l <"$2")" ] &&
        ! cut -d' ' -f2 "$1" | grep -qxFf - <(cut -d' ' -f2 "$2") &&
        ! cut -d' ' -f1,3 "$1" | grep -qxFf - <(cut -d' ' -f1,3 "$2")
}

# the_job NAME COMMAND...: in the background, with its output and messages in files; $job is its pid.
the_job() {
    local name=$1
    shift
    "$@" >"/tmp/$name.out" 2>"/tmp/$name.err" &
    job=$!
}

show() { cat "/tmp/$1.err"; tail -n 5 "/tmp/$1.out"; }
ended_well() { wait "$job" || { code=$?; show "$1"; return $code; }; }

first_life() {
    : >"$brake"
    the_job one udckpt run -n 2 --name job --dir /lab/image --hosts a:1,b:1 --device rxe1,rxe2 -- \
        "$programs/stencil_cg" $solve --brake "$brake"
    step "an MPI job over rxe1 and rxe2" await_line '^solve 1 ' /tmp/one.out
    endpoints job >/tmp/endpoints.1
    step "checkpoint and kill" udckpt checkpoint job --then kill
    step "the killed job ends" ended_well one
}

# restarted FILE NAME: whether the job's output before the checkpoint and after the restart is the uninterrupted run's.
right_answer() {
    cat /tmp/one.out "/tmp/$1.out" | grep '^solve\|^checksum' | awk '!seen[$0]++' >/tmp/answer
    same "the answer is that of the uninterrupted run" /lab/answer /tmp/answer
}

second_life() {
    other_devices
    the_job two udckpt restart /lab/image --device rxe8,rxe7
    step "restart over rxe8 and rxe7: the job computes on" await_line '^solve' /tmp/two.out
    endpoints job >/tmp/endpoints.2
    step "other GIDs and other QPNs" different /tmp/endpoints.1 /tmp/endpoints.2
    paste /tmp/endpoints.1 /tmp/endpoints.2 | awk '{ printf "        rank %s: GID %s QPN 0x%06x -> GID %s QPN 0x%06x\n", $1, $2, $3, $5, $6 }'
    rm "$brake"
    step "it ends well" ended_well two
    right_answer two
}

# No RDMA at all: neither devices nor the kernel's verbs.
no_rdma() {
    rdma link delete rxe7
    rdma link delete rxe8
    modprobe -r rdma_rxe
    modprobe -r ib_uverbs
    [ ! -e /dev/infiniband/uverbs0 ] && [ -z "$(ls /sys/class/infiniband 2>/dev/null)" ]
}

gdb_sees_rank() {
    gdb -p "$(pgrep -o -x stencil_cg)" -nx -batch -ex 'set debuginfod enabled off' -ex bt </dev/null 2>&1 | tee /tmp/gdb
    grep -q '^#[0-9].* main' /tmp/gdb || grep -q '^#1 ' /tmp/gdb
}

# The same image, where there is only the soft fabric.
life_without_rdma() {
    step "the kernel's RDMA is gone" no_rdma
    : >"$brake"
    the_job three udckpt restart /lab/image
    step "restart on the soft fabric: the job computes on" await_line '^solve' /tmp/three.out
    step "gdb attaches to a rank" gdb_sees_rank
    rm "$brake"
    step "it ends well" ended_well three
    right_answer three
}
