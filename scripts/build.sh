# Builds what is older than its sources. The stamp is the time at which the last good build began,
# so that an edit during a build is seen by the next one.
stamp=$root/target/built

is_built() {
    [ -f "$stamp" ] && [ -f "$root/native/target/cmake/libudckpt.so" ] || return 1
    [ -z "$(find "$root"/pom.xml "$root"/*/pom.xml "$root"/*/src/main "$root"/process-image/src/test/c \
        "$root"/native/cmake "$root"/native/layout "$root"/native/CMakeLists.txt \
        -newer "$stamp" -print -quit 2>/dev/null)" ] && ! is_more_there
}

# Whether something is there by now for want of which the last build has left a part out (native/cmake/left-out.cmake).
is_more_there() {
    local name
    while read -r name; do
        case $name in
            /*) [ ! -e "$name" ] || return 0 ;;
            *) ! command -v "$name" >/dev/null || return 0 ;;
        esac
    done 2>/dev/null <"$root/native/target/cmake/left-out"
    return 1
}

maven() { (cd "$root" && JAVA_HOME=$java_home mvn -B -ntp "$@" </dev/null); }

require_build_tools() {
    local tool missing=
    for tool in mvn cmake make gcc; do
        command -v "$tool" >/dev/null || missing="$missing $tool"
    done
    [ -z "$missing" ] || die 69 "udckpt is not built yet, and there is no$missing; as root: apt-get install" \
        "--no-install-recommends $(missing_packages $base_packages)"
}

# Maven's own words, without its advice; a repository that cannot be reached is the usual cause.
explain_failed_build() {
    grep -E '\[ERROR\]|\[WARNING\] .*[.]java:|[Ee]rror:|Error ' "$root/target/build.log" |
        grep -vE '\[Help 1\]$|^\[ERROR\] *$|re-run Maven|For more information' |
        cut -c1-400 | head -20 >&2
    if grep -qE 'Unknown host|Could not transfer|offline mode|resolution is not reattempted' \
        "$root/target/build.log"; then
        die 69 "the build needs libraries from Maven Central and could not fetch them: see that the network" \
            "(or the mirror" \
            "in ~/.m2/settings.xml) works, and try again; the whole log is $root/target/build.log"
    fi
    die 70 "the build failed; the whole log is $root/target/build.log"
}

# Classes have the constants of the layout in them, which Maven does not know.
forget_layout() {
    [ ! -f "$stamp" ] || [ -z "$(find "$root/native/layout" -newer "$stamp" -print -quit)" ] ||
        rm -rf "$root"/*/target/classes "$root"/*/target/test-classes "$root"/*/target/maven-status
}

build() {
    [ -z "${UDCKPT_NO_BUILD-}" ] || return 0 # set where Maven itself runs us, in the tests
    ! is_built || return 0
    require_build_tools
    { mkdir -p "$root/target" && : >>"$root/target/lock"; } 2>/dev/null ||
        die 77 "udckpt is not built, or older than its sources, and $root/target cannot be written: build it as its" \
            "owner with '$root/udckpt check'"
    exec 9>"$root/target/lock"
    flock 9
    if ! is_built; then
        say "building (Maven, cmake); a first build takes some minutes"
        touch "$stamp.next"
        forget_layout
        maven -DskipTests package >"$root/target/build.log" 2>&1 || explain_failed_build
        mv "$stamp.next" "$stamp"
    fi
    exec 9>&-
}
