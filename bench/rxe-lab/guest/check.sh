# Steps with a verdict. A failing step does not hide the others; the counts go on from the machine to outside (counted).
passed=0
failed=0
said=$(mktemp)
uptime_s() { cut -d' ' -f1 /proc/uptime; }

# step NAME COMMAND...: passes when the command does; what it printed is shown when it does not.
step() {
    local name=$1 begin code=0
    shift
    begin=$(uptime_s)
    "$@" >"$said" 2>&1 || code=$?
    if [ $code = 0 ]; then
        passed=$((passed + 1))
        awk -v a="$begin" -v b="$(uptime_s)" -v n="$name" 'BEGIN { printf "ok      %-66s %5.1f s\n", n, b - a }'
    else
        failed=$((failed + 1))
        printf 'FAILED  %s (code %d)\n' "$name" "$code"
        tail -n 40 "$said" | sed 's/^/        /'
    fi
}

# same NAME A B: whether two files hold the same.
same() { step "$1" diff "$2" "$3"; }

# counted FILE: what the steps of another machine came to.
counted() {
    local more_passed=0 more_failed=0
    read -r more_passed more_failed <"$1" || true
    passed=$((passed + more_passed))
    failed=$((failed + more_failed))
}

verdict() {
    echo "Tests run: $((passed + failed)), Failures: $failed, Errors: 0, Skipped: 0"
    [ $failed = 0 ]
}
