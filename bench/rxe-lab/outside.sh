# The image that was taken over rxe in the machine, restarted out here: another kernel, another processor, no RDMA
# device.

# The pids of a job's ranks.
ranks() { "$root/udckpt" status "$1" --json | awk '/"pid" :/ { gsub(",", ""); print $3 }'; }

outside() {
    local name=rxe-lab-$$ here=$run share=$run/share
    export UDCKPT_KEY_FILE=$share/key UDCKPT_NO_BUILD=1
    cp "$share/ud.out" "$here/"
    : >"$brake"
    the_job outside "$root/udckpt" restart "$share/image" --name "$name"
    trap 'kill "$job" 2>/dev/null || true' EXIT INT TERM
    step "the image of rxe restarted on this machine's soft fabric computes on" computes outside
    step "gdb attaches to a rank" gdb_sees "$(ranks "$name" | head -n 1)"
    rm -f "$brake"
    step "it ends well" ended_well outside
    right_answer ud outside
    printf '%s\n' 'info threads' bt detach >"$here/look.gdb"
    the_job debugged "$root/udckpt" restart "$share/image" --name "$name-debug" \
        --debug 0 --debug-script "$here/look.gdb"
    step "restart --debug of it ends well" ended_well debugged
    step "gdb had the rank before its first instruction" grep '^#[0-9].* main' "$here/debugged.err"
    right_answer ud debugged
    trap - EXIT INT TERM
}
