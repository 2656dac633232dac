# Sessions of the kernel's scheduler, for tests and benchmarks of jobs beside each other on few processors.

# On some kernels (seen with Linux 6.18) a session whose threads sleep and wake very often, as two ranks over rc_v do,
# keeps a processor from all other sessions for up to 15 s (docs/user/checkpoints.md). As root, sessions are no groups
# of the scheduler until this shell ends.
without_session_groups() {
    session_groups=/proc/sys/kernel/sched_autogroup_enabled
    if [ -w "$session_groups" ] && [ "$(cat "$session_groups")" = 1 ]; then
        echo 0 >"$session_groups"
        trap 'echo 1 >"$session_groups"' EXIT
    fi
}
