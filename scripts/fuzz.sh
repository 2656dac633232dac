# Coverage-guided fuzzers (docs/contributing/testing.md, "Fuzzing"): targets in C by libFuzzer, in Java by Jazzer, which
# neither the product nor its plain tests have on their class paths. What each run has found and learned is below
# target/fuzz/NAME: corpus, found, log.

# The names of all, as their sources have them: the C ones, then the Java ones with their modules.
fuzz_c_targets() {
    find "$root/native/src/test/fuzz" -maxdepth 1 -name '*.c' ! -name fuzz_replay.c -printf '%f\n' |
        sed 's/[.]c$//' | sort
}
fuzz_java_targets() { (cd "$root" && find ./*/src/test/java -name '*Fuzz.java' | sed 's|^[.]/||' | sort); }

fuzz_property() { # NAME: a property of the root pom
    sed -n "s|.*<$1>\(.*\)</$1>.*|\1|p" "$root/pom.xml"
}

# fuzz_jar ARTIFACT VERSION
fuzz_jar() {
    [ -f "$root/target/fuzz/$1-$2.jar" ] ||
        maven -q -N org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
            "-Dartifact=com.code-intelligence:$1:$2" -DoutputDirectory="$root/target/fuzz"
}

fuzz_build_java() {
    local version modules
    version=$(fuzz_property jazzer.version)
    modules=$(fuzz_java_targets | sed 's|/.*||' | sort -u | paste -sd ,)
    maven -q -pl "$modules" -am test-compile org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath \
        -Dmdep.outputFile=target/fuzz.classpath -Dmdep.includeScope=test &&
        fuzz_jar jazzer "$version" && fuzz_jar jazzer-api "$version"
}

fuzz_build_c() {
    cmake -S "$root/native" -B "$root/native/target/cmake-fuzz" -DCMAKE_C_COMPILER=clang \
        -DUDCKPT_SANITIZE=address,undefined -DUDCKPT_FUZZ=ON -DJAVA="$java_home/bin/java" &&
        cmake --build "$root/native/target/cmake-fuzz" -j2 --target fuzz_targets
}

fuzz_build() {
    local log=$root/target/fuzz/build.log
    mkdir -p "$root/target/fuzz"
    if ! { fuzz_build_java && fuzz_build_c; } >"$log" 2>&1; then
        tail -20 "$log" >&2
        die 70 "the fuzz targets could not be built: see above, and $log"
    fi
}

# fuzz_run NAME SECONDS INPUTS COMMAND...: prints its line; 1 after a finding
fuzz_run() {
    local name=$1 seconds=$2 inputs=$3 place=$root/target/fuzz/$1 log code=0 count coverage found
    shift 3
    log=$place/log
    mkdir -p "$place/corpus" "$place/found"
    (cd "$place" && exec "$@" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=3072 -print_final_stats=1 \
        -artifact_prefix="$place/found/" "$place/corpus" "$inputs") >"$log" 2>&1 || code=$?
    count=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -1)
    coverage=$(grep -aoE 'cov: [0-9]+' "$log" | tail -1) || true # none, where it ended at once
    found=$(sed -n 's/.*Test unit written to //p' "$log" | tail -1)
    case $code,$count,$found in
        0,[1-9]*,) found='no finding' ;;
        *,) found="DID NOT END AS IT SHOULD; see $log" code=1 ;;
        *) found="FOUND $found; see $log" code=1 ;;
    esac
    printf 'fuzz: %s: %s executions, %s, %s s, %s\n' "$name" "${count:-?}" "${coverage:-cov: ?}" "$seconds" "$found"
    return "$code"
}

# fuzz_c NAME SECONDS
fuzz_c() {
    ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=0:handle_abort=1 UBSAN_OPTIONS=print_stacktrace=1 \
        fuzz_run "$1" "$2" "$root/native/src/test/fuzz/$1" "$root/native/target/cmake-fuzz/fuzz/$1" -close_fd_mask=3
}

# fuzz_java SOURCE SECONDS: that what is ours is instrumented, and not the libraries that read for us, keeps it fast
fuzz_java() {
    local source=$1 seconds=$2 module=${1%%/*} class classes name version
    class=${source#*/src/test/java/}
    class=$(printf '%s' "${class%.java}" | tr / .)
    name=${class##*.}
    version=$(fuzz_property jazzer.version)
    classes=$root/$module/target/test-classes:$root/$module/target/classes:$(cat "$root/$module/target/fuzz.classpath")
    classes=$classes:$root/target/fuzz/jazzer-$version.jar:$root/target/fuzz/jazzer-api-$version.jar
    # shellcheck disable=SC2046 # flags are words
    fuzz_run "$name" "$seconds" "$root/$module/src/test/fuzz/$name" "$java_home/bin/java" $(needed_flags) \
        -XX:+EnableDynamicAgentLoading -Dudckpt.fuzzing=true -XX:+UseSerialGC -Xmx1g -Xss2m \
        -cp "$classes" \
        com.code_intelligence.jazzer.Jazzer "--target_class=$class" '--instrumentation_includes=org.udckpt.**' \
        '--custom_hook_includes=org.udckpt.**' \
        '--disabled_hooks=com.code_intelligence.jazzer.sanitizers.FilePathTraversal' \
        "--reproducer_path=$root/target/fuzz/$name/found"
}

# test_fuzz [--minutes N] [--only NAME] [--jobs 1|2]
test_fuzz() {
    local minutes=1 only="" jobs=2 ran="" target name failed=0
    while [ $# -gt 0 ]; do
        case ${1-},${2-} in
            --minutes,[1-9]*) minutes=$2 ;;
            --only,[A-Za-z]*) only=$2 ;;
            --jobs,[12]) jobs=$2 ;;
            *) die 64 "usage: ./udckpt test fuzz [--minutes N] [--only NAME] [--jobs 1|2]" ;;
        esac
        shift 2
    done
    fuzz_build
    for target in $(fuzz_c_targets) $(fuzz_java_targets); do
        name=${target##*/}
        name=${name%.java}
        [ -z "$only" ] || [ "$name" = "$only" ] || continue
        case $target in
            *.java) fuzz_java "$target" $((60 * minutes)) & ;;
            *) fuzz_c "$target" $((60 * minutes)) & ;;
        esac
        ran=1
        while [ "$(jobs -pr | wc -l)" -ge "$jobs" ]; do
            wait -n || failed=1
        done
    done
    [ -n "$ran" ] || die 64 \
        "there is no fuzz target '$only'; there are: $(fuzz_c_targets | paste -sd ' ')" \
        "$(fuzz_java_targets | sed 's|.*/||; s/[.]java$//' | paste -sd ' ')"
    while [ -n "$(jobs -pr)" ]; do
        wait -n || failed=1
    done
    [ "$failed" = 0 ] || die 1 \
        "at least one finding: keep its input in src/test/fuzz/NAME of its module (docs/contributing/testing.md)"
}
