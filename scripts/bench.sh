# `udckpt bench`: each program in bench/ is a benchmark of that name; the others are written in Java.

measuring_benchmarks() {
    local file
    for file in "$root"/bench/*; do
        if [ -f "$file" ] && [ -x "$file" ]; then printf '%s\n' "${file##*/}"; fi
    done
}

# The first sentence of a script's own comment.
list_benchmarks() {
    local name
    printf 'Usage: udckpt bench BENCHMARK [ARGUMENT...]\n\n'
    for name in $(measuring_benchmarks); do
        printf '  %-14s%s\n' "$name" "$(sed -n '2s/^# *//p' "$root/bench/$name" | sed 's/\([.:]\) .*/\1/; s/:$/./')"
    done
    printf '  %-14s%s\n' run \
        "Applications as they are, with the library, with checkpoints and from one: measured as pairs."
    printf '  %-14s%s\n' report "A page (Markdown, HTML, SVG) of what run has measured."
    printf '  %-14s%s\n' micro "Hot paths: JMH for Java, instructions for C, against the committed results."
    printf '  %-14s%s\n' model "What checkpoints would cost a job of any size: computed, not measured."
    printf '\ndocs/contributing/benchmarks.md says how they are made, results/README.md what each number means.\n'
}

bench() {
    case ${1-} in
        run | report | micro | model)
            require_jdk
            build
            [ "$1" != micro ] || more_classes+=":$root/bench/target/jmh/*"
            run_java bench org.udckpt.bench.Bench "$@"
            ;;
        '' | -h | --help | list) list_benchmarks ;;
        *)
            measuring_benchmarks | grep -qxF -- "$1" || die 64 "'$1' is no benchmark; see '$0 bench --help'"
            local name=$1
            shift
            require_jdk
            build
            exec "$root/bench/$name" "$@"
            ;;
    esac
}
