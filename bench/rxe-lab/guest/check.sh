# Steps with a verdict. A failing step does not hide the others; `verdict` ends the suite.
passed=0
failed=0
uptime_s() { cut -d' ' -f1 /proc/uptime; }

# step NAME COMMAND...: passes when the command does; what it printed is shown when it does not.
step() {
    local name=$1 begin code=0
    shift
    begin=$(uptime_s)
    "$@" >/tmp/step 2>&1 || code=$?
    if [ $code = 0 ]; then
        passed=$((passed + 1))
        awk -v a="$begin" -v b="$(uptime_s)" -v n="$name" 'BEGIN { printf "ok      %-58s %5.1f s\n", n, b - a }'
    else
        failed=$((failed + 1))
        printf 'FAILED  %s (code %d)\n' "$name" "$code"
        tail -n 40 /tmp/step | sed 's/^/        /'
    fi
}

# same NAME A B: whether two files hold the same.
same() { step "$1" diff "$2" "$3"; }

verdict() {
    echo "Tests run: $((passed + failed)), Failures: $failed, Errors: 0, Skipped: 0"
    [ $failed = 0 ]
}
