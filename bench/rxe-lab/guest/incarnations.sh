# Incarnations of a job: started, killed after a checkpoint, restarted; in the machine and outside of it.
# $here holds what they print.

# the_job NAME COMMAND...: in the background, with its output and messages in files; $job is its pid.
the_job() {
    local name=$1
    shift
    "$@" >"$here/$name.out" 2>"$here/$name.err" &
    job=$!
}

show() { cat "$here/$1.err"; tail -n 5 "$here/$1.out"; }
ended_well() { wait "$job" || { code=$?; show "$1"; return $code; }; }

# computes NAME: it has printed a solve; not when it ended without.
computes() {
    until grep -q '^solve' "$here/$1.out" 2>/dev/null; do
        kill -0 "$job" 2>/dev/null || { show "$1"; return 1; }
        sleep 0.3
    done
}

# right_answer FIRST SECOND: whether the output before the checkpoint and after the restart is the uninterrupted run's.
right_answer() {
    cat "$here/$1.out" "$here/$2.out" | grep '^solve\|^checksum' | awk '!seen[$0]++' >"$here/answer.got"
    same "the answer is that of the uninterrupted run" "$share/answer" "$here/answer.got"
}

# gdb_sees PID
gdb_sees() {
    gdb -p "$1" -nx -batch -ex 'set debuginfod enabled off' -ex bt </dev/null >"$here/gdb" 2>&1
    cat "$here/gdb"
    grep -q '^#[0-9].* main' "$here/gdb" || grep -q '^#1 ' "$here/gdb"
}
