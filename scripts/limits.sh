# What a JVM needs of the shell's limits (ulimit) and of the working directory, looked at before anything is started: it
# would only leave a stack trace. Without a single new process, which is what may be limited, and which a restart would
# wait for.

# refuse NAME VALUE WANTED: in one line
refuse_limit() {
    printf 'udckpt: %s is %s, and udckpt needs at least %s: raise it (%s %s), or ask whoever set it\n' "$1" "$2" "$3" \
        "$1" "$3" >&2
    exit 69
}

# Of this user, who is not root: threads that there are now. Each counts (getrlimit(2), RLIMIT_NPROC).
count_threads() {
    local file key value rest mine
    threads=0
    for file in /proc/[0-9]*/status; do
        mine=
        while read -r key value rest; do
            case $key in
                Uid:) [ "$value" != "$UID" ] || mine=1 ;;
                Threads:) [ -z "$mine" ] || threads=$((threads + value)) && break ;;
            esac
        done 2>/dev/null <"$file" || true # it has ended
    done
}

check_limits() {
    [ -r /proc/self/limits ] || {
        echo "udckpt: /proc is not mounted here, and udckpt reads what it has to know of processes there:" \
            "mount it (mount -t proc proc /proc)" >&2
        exit 69
    }
    local line files='' processes='' space='' memory='' size='' needed
    while read -r line; do
        # name, soft limit, hard limit, unit
        # shellcheck disable=SC2086 # words
        set -- $line
        case $line in
            "Max open files"*) files=$5 ;;       # a JVM raises its own to the hard limit
            "Max processes"*) processes=$3 ;;
            "Max address space"*) space=$4 ;;
            "Max file size"*) size=$4 ;;
        esac
    done </proc/self/limits
    read -r _ memory _ </proc/meminfo # MemTotal, in KiB
    [ "$files" = unlimited ] || [ "$files" -ge "$least_files" ] || refuse_limit "ulimit -n" "$files" "$least_files"
    # A heap of a quarter of the memory, and what a JVM reserves beside it; nothing of it is used before it is needed.
    needed=$((memory / 4 + 4194304))
    [ "$space" = unlimited ] || [ $((space / 1024)) -ge $needed ] || refuse_limit "ulimit -v" $((space / 1024)) $needed
    [ "$size" = unlimited ] || [ $((size / 1024)) -ge $least_file_size ] ||
        refuse_limit "ulimit -f" $((size / 1024)) $least_file_size
    if [ "$EUID" -ne 0 ] && [ "$processes" != unlimited ] && [ "$processes" -lt "$enough_threads" ]; then
        count_threads
        [ "$processes" -ge $((threads + least_threads)) ] ||
            refuse_limit "ulimit -u" "$processes" $((threads + least_threads))
    fi
}

# A deleted working directory has no name, and one of more than 4095 bytes cannot be named in a system call.
check_directory() {
    local before=${PWD-} last=${OLDPWD-} failed=
    if ! pwd -P >/dev/null 2>&1; then
        failed="was deleted"
    elif cd -P . && [ ${#PWD} -ge 4096 ]; then
        failed="has a name of ${#PWD} bytes, and the most are 4095"
    fi
    PWD=$before OLDPWD=$last # a job's environment is the user's
    [ -n "$last" ] || unset OLDPWD
    [ -z "$failed" ] || { printf 'udckpt: the working directory %s: go to another one\n' "$failed" >&2; exit 69; }
}

least_files=256         # 60 jars, sockets, the image's files; more for many ranks, of which the agent says so itself
least_threads=64        # of a JVM, a shepherd and a few ranks
enough_threads=4096     # not looked at more closely from here on
least_file_size=65536   # KiB: the translation table, and the least that an image of any use has

check_directory
check_limits
