# Some virtual machines give free memory back to their host at once (free page reporting, virtio_balloon). Memory that
# is new then has to come from the host again, page by page, which costs several times what it costs on a machine that
# has its memory for itself, and another time at each look. Where the kernel can be told to wait with that, it is until
# restore_free_memory.
reporting=/sys/module/page_reporting/parameters
hold_free_memory() {
    reporting_before=
    if [ -w "$reporting/min_free_ms" ] && [ -w "$reporting/max_waiting_mib" ]; then
        reporting_before="$(cat "$reporting/min_free_ms") $(cat "$reporting/max_waiting_mib")"
        echo 60000 >"$reporting/min_free_ms"
        awk '/^MemTotal/ { print int($2 / 1024) }' /proc/meminfo >"$reporting/max_waiting_mib"
    fi
}

restore_free_memory() {
    if [ -n "${reporting_before-}" ]; then
        echo "${reporting_before% *}" >"$reporting/min_free_ms"
        echo "${reporting_before#* }" >"$reporting/max_waiting_mib"
        reporting_before=
    fi
}

# Takes MIB of memory once (less where /dev/shm has less room), so that they have come from the host; prints seconds of
# processor time for a GiB of new memory, then and now.
new_memory() {
    local file first second room
    room=$(($(df --output=avail /dev/shm | tail -1) / 1024 * 3 / 4))
    set -- $(($1 < room ? $1 : room))
    file=$(mktemp /dev/shm/udckpt-new-memory.XXXXXX)
    first=$(fill "$file" "$1") || first="?"
    second=$(fill "$file" "$1") || second="?"
    rm -f "$file"
    echo "$first s of processor time for a GiB of new memory, then $second"
}

fill() {
    local TIMEFORMAT='%U %S'
    : >"$1"
    { time head -c "$2"M /dev/zero >"$1"; } 2>&1 | tail -1 | awk -v mib="$2" '{ printf "%.2f", ($1 + $2) * 1024 / mib }'
}
