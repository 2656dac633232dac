# All tests of all modules, and one line that sums them up. A failing module does not hide the
# results of the others: Maven is told to go on, and the sum decides. A test that fails is run up to twice more, so that
# one unlucky moment on a loaded machine does not hide what the rest says; that it failed is told by name.

# The cases are counted, not what a suite says of itself: of a class with parameters Surefire writes tests="0".
sum_reports() {
    find "$root" -path '*/target/surefire-reports/TEST-*.xml' -exec awk '
        /^ *<testcase / { run++ }
        /^ *<failure[ >]/ { failures++ }
        /^ *<error[ >]/ { errors++ }
        /^ *<skipped[ \/>]/ { skipped++ }
        END { printf "%d %d %d %d\n", run, failures, errors, skipped }' {} + |
        awk '{ run += $1; failures += $2; errors += $3; skipped += $4 }
             END { printf "Tests run: %d, Failures: %d, Errors: %d, Skipped: %d\n", run, failures, errors, skipped }'
}

# A test that failed first and passed then is a defect all the same, of the test or of what it tests.
tell_unsteady() {
    find "$root" -path '*/target/surefire-reports/TEST-*.xml' -exec awk '
        /<testcase / { match($0, / name="[^"]*"/); name = substr($0, RSTART + 7, RLENGTH - 8)
                       match($0, / classname="[^"]*"/); name = substr($0, RSTART + 12, RLENGTH - 13) "." name }
        /<flaky(Failure|Error) / { match($0, / message="[^"]*"/)
                                   print "failed, and passed when run again: " name ": " \
                                       substr($0, RSTART + 10, RLENGTH - 11) }' {} +
}

# test_class MODULE PHASE CLASS PROPERTY...: one class of a module, with what is slow in it
test_class() {
    local module=$1 phase=$2 class=$3
    shift 3
    without_session_groups
    # Not left to "set -e", which does not hold where the caller looks at the result.
    UDCKPT_NO_BUILD=1 maven -q -pl "$module" -am "$phase" -Dtest="$class" \
        -Dsurefire.failIfNoSpecifiedTests=false "-Dudckpt.tests.without=none" "$@" || return
    say "passed: $class"
}

# test_one CLASS[#METHOD] [PROPERTY...]: in the module that has the class
test_one() {
    local class=${1%%#*} found
    found=$(cd "$root" && find . -path "./*/src/test/java/*" -name "$class.java" | sort)
    case $found in
        '') die 64 "there is no test class $class; classes are below src/test/java of each module" ;;
        *$'\n'*) die 64 "several modules have a class $class: $(printf '%s' "$found" | paste -sd ' ')" ;;
    esac
    found=${found#./}
    # Those of system-test and bench need the jars, and run behind them.
    test_class "${found%%/*}" verify "$@"
}

# test_cuda [PROPERTY...]: says what of it ran on what.
test_cuda() {
    test_class system-test verify "Cuda*Test" "$@" || return
    if [ -e /dev/nvidia0 ]; then
        say "nothing of this ran on this machine's GPU: udckpt has no CUDA program of its own to run there yet"
    else
        say "nothing of this ran on a GPU: this machine has none (/dev/nvidia0), and udckpt has no CUDA program" \
            "of its own to run on one yet"
    fi
}

# test_counted WORD COUNT PROPERTY MODULE PHASE CLASS [--seed S] [--count N]: a class that makes COUNT runs of chance
test_counted() {
    local word=$1 count=$2 property=$3 module=$4 phase=$5 class=$6 seed=()
    shift 6
    while [ $# -gt 0 ]; do
        case ${1-},${2-} in
            --seed,[0-9]*) seed=("-Dudckpt.seed=$2") ;;
            --count,[1-9]*) count=$2 ;;
            *) die 64 "usage: ./udckpt test $word [--seed S] [--count N]" ;;
        esac
        shift 2
    done
    test_class "$module" "$phase" "$class" "-D$property=$count" "${seed[@]}"
}

# test_attacks [--tries N] [--class C]: what another user of the host does, often (docs/contributing/testing.md)
test_attacks() {
    local tries=1000 class='*AttackTest' log
    while [ $# -gt 0 ]; do
        case ${1-},${2-} in
            --tries,[1-9]*) tries=$2 ;;
            --class,[A-Z]*) class=$2 ;;
            *) die 64 "usage: ./udckpt test attacks [--tries N] [--class NAME]" ;;
        esac
        shift 2
    done
    [ "$(id -u)" = 0 ] || die 77 \
        "only root can run the owner and the attacker of a job as two ordinary users: run it as root"
    log=$(mktemp /tmp/udckpt-attacks.XXXXXX)
    test_class system-test verify "$class" "-Dudckpt.attack.tries=$tries" \
        -Djunit.jupiter.execution.timeout.mode=disabled >"$log" 2>&1 || {
        cat "$log" >&2
        die 1 "an attack won, or could not be tried: see above, and $log"
    }
    grep -ao 'attack: .*: won [0-9]* of [0-9]*' "$log" | sort # also behind what a program of a test has printed
    rm -f "$log"
}

# test_hosts [--seed S] [--count N] [--jobs J] [--kinds A,B]
test_hosts() {
    local properties=(-Dudckpt.host.faults=100)
    while [ $# -gt 0 ]; do
        case ${1-},${2-} in
            --seed,[0-9]*) properties+=("-Dudckpt.seed=$2") ;;
            --count,[1-9]*) properties+=("-Dudckpt.host.faults=$2") ;;
            --jobs,[1-9]*) properties+=("-Dudckpt.host.jobs=$2") ;;
            --kinds,[A-Z]*) properties+=("-Dudckpt.host.kinds=$2") ;;
            *) die 64 "usage: ./udckpt test hosts [--seed S] [--count N] [--jobs J] [--kinds" \
                "CRASH,KILL_AGENT,KILL_RANK,PAUSE_AGENT,SHORT_CUT,LONG_CUT,CUT_BETWEEN,SLOW,KILL_LEAD]" ;;
        esac
        shift 2
    done
    test_class system-test verify HostFaultRunsTest "${properties[@]}"
}

# The classes that have run, each with its cases and their seconds.
classes_run() {
    find "$root" -path '*/target/surefire-reports/TEST-*.xml' -exec awk '
        /^ *<testcase / { match($0, / classname="[^"]*"/); class = substr($0, RSTART + 12, RLENGTH - 13)
                          sub(/.*[.]/, "", class); sub(/[^A-Za-z0-9].*/, "", class)
                          match($0, / time="[^"]*"/); time = substr($0, RSTART + 7, RLENGTH - 8); gsub(/,/, "", time)
                          print class, time }' {} + |
        awk '{ cases[$1]++; seconds[$1] += $2 }
             END { for (class in cases) printf "%-36s %5d %6.0f\n", class, cases[class], seconds[class] }' |
        LC_ALL=C sort
}

# What is too slow for each change, and what of it has run on which code: results/slow.txt
test_slow() {
    test_all -Dudckpt.tests.only=slow -Dudckpt.tests.without=none "$@" || return
    {
        printf '# udckpt test slow: all passed in %d s, on %d processors, %s\n' "$SECONDS" "$(nproc)" "$(date -u +%F)"
        printf '# %s\n' "$(UDCKPT_NO_BUILD=1 "$root/udckpt" --version | head -n 1)"
        printf '# class, cases, seconds\n'
        classes_run
    } >"$root/results/slow.txt"
}

test_all() {
    local summary maven_code=0
    find "$root" -path '*/target/surefire-reports/*' -type f -delete
    without_session_groups
    UDCKPT_NO_BUILD=1 maven -T 2 -Dmaven.test.failure.ignore=true -Dsurefire.rerunFailingTestsCount=2 verify "$@" ||
        maven_code=$?
    summary=$(sum_reports)
    [ "$maven_code" = 0 ] || say "Maven ended with code $maven_code: not everything was built or tested"
    tell_unsteady
    printf '%s\n' "$summary"
    case $summary in
        "Tests run: 0,"*) return 1 ;;
        *"Failures: 0, Errors: 0,"*) return "$maven_code" ;;
        *) return 1 ;;
    esac
}
