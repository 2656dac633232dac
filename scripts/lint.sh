# `udckpt lint`: what no test looks at, before them in CI; each check prints what is wrong, and the way out.
# `udckpt format` mends what can be mended by itself.
lint_files=$root/scripts/lint # lists and the checks in Python

# The checks of clang-tidy: mistakes, and no matters of taste. Without those that take arrays of pointers, and memcmp
# without "== 0", for mistakes.
tidy_checks="-*,bugprone-*,misc-redundant-expression,misc-misplaced-const$(printf ',-bugprone-%s' \
    easily-swappable-parameters narrowing-conversions reserved-identifier implicit-widening-of-multiplication-result \
    assignment-in-if-condition branch-clone suspicious-string-compare sizeof-expression macro-parentheses \
    not-null-terminated-result suspicious-memory-comparison misplaced-widening-cast)"

# Files under version control by pattern, those of images for tests excepted.
lint_list() { (cd "$root" && git ls-files -z -- "$@"); }

# All scripts: those that say so in their first line, and those that others source.
lint_scripts() {
    (cd "$root" && git ls-files -- udckpt .ci bench scripts share | while IFS= read -r file; do
        case $file in
            *.sh) printf '%s\0' "$file" ;;
            *)
                if head -c 64 -- "$file" 2>/dev/null | head -1 | grep -qaE '^#!.*/(env )?(ba)?sh'; then
                    printf '%s\0' "$file"
                fi
                ;;
        esac
    done)
}

# javac -Xlint:all -Werror and gcc -Wall -Wextra -Werror are in the build itself (pom.xml, native/CMakeLists.txt).
lint_compilers() {
    unset UDCKPT_NO_BUILD
    build
}

lint_c() {
    local database=$root/target/lint
    if [ ! -f "$native/compile_commands.json" ]; then
        echo "$native/compile_commands.json is not there: build again with $root/udckpt check"
        return 1
    fi
    mkdir -p "$database"
    # Flags and attributes of gcc that clang does not know, and parameters of interposed functions, which may be NULL.
    sed 's/ -fno-peephole2//g' "$native/compile_commands.json" >"$database/compile_commands.json"
    lint_list '*/src/main/c/*.c' ':!bench' | (cd "$root" && xargs -0 -P "$(nproc)" -n 8 \
        clang-tidy -p "$database" --quiet --warnings-as-errors='*' --checks="$tidy_checks" \
        --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-ignored-optimization-argument \
        --extra-arg=-Wno-unknown-attributes --extra-arg=-Wno-ignored-attributes \
        --extra-arg=-Wno-tautological-pointer-compare 2>/dev/null)
}

lint_shell() {
    local except
    except=$(paste -sd , <"$lint_files/shellcheck.txt")
    lint_scripts | (cd "$root" && xargs -0 shellcheck -x -s bash -S warning -e "$except")
}

lint_spelling() { # not what programs of others said
    lint_list '*.md' '*.java' '*.c' '*.h' '*.sh' udckpt ':!*/src/test/fuzz/*' ':!results/peers.md' |
        (cd "$root" && xargs -0 codespell -q 3 --ignore-regex '\b[A-Za-z]*[a-z][A-Z][A-Za-z]*\b' \
            --ignore-words="$lint_files/codespell.txt")
}

formatter=net.revelc.code.formatter:formatter-maven-plugin # its version and settings are in pom.xml
# Other versions lay out some lines otherwise.
lays_c_out() {
    local version
    version=$(clang-format --version | grep -oE 'version [0-9]+' | cut -d ' ' -f 2)
    [ "$version" = 14 ] && return
    say "C code is laid out by clang-format 14, as Debian 12 has it, and this is $version: left as it is"
    return 1
}

lint_layout_of_c() {
    ! lays_c_out || lint_list '*.c' '*.h' | (cd "$root" && xargs -0 clang-format --dry-run -Werror)
}

lint_layout() {
    maven -q "$formatter:validate" && lint_layout_of_c && return
    echo "code is laid out by programs (lint/java-format.xml, .clang-format): $root/udckpt format"
    return 1
}

lint_text() { (cd "$root" && python3 "$lint_files/text.py" check); }
lint_pages() { (cd "$root" && python3 "$lint_files/pages.py"); }

# lint [CHECK...]: all of them, or those that are named
lint() {
    local check begun failed='' all=(compilers layout text pages spelling shell c) checks
    checks=("$@")
    [ $# != 0 ] || checks=("${all[@]}")
    git -C "$root" rev-parse --git-dir >/dev/null 2>&1 ||
        die 69 "'$0 lint' looks at the files that git knows, and $root is no clone"
    for check in "${checks[@]}"; do
        case " ${all[*]} " in
            *" $check "*) ;;
            *) die 64 "'$check' is no check; there are: ${all[*]}" ;;
        esac
        begun=$SECONDS
        if "lint_$check"; then
            say "lint: $check is good ($((SECONDS - begun)) s)"
        else
            say "lint: $check is not: see above"
            failed="$failed $check"
        fi
    done
    [ -z "$failed" ] || die 1 "lint:$failed"
}

# White space at line ends, final newlines, the order of imports; the layout of Java and C code (lint_layout).
format() {
    [ $# = 0 ] || die 64 "usage: $0 format"
    (cd "$root" && python3 "$lint_files/text.py" format)
    maven -q "$formatter:format" || die 70 "Java code could not be laid out: see above"
    ! lays_c_out || lint_list '*.c' '*.h' | (cd "$root" && xargs -0 clang-format -i)
}
