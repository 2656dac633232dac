# `udckpt install PREFIX`: what runs without this tree, Maven and a compiler (docs/operator/install.md).

project_version() { sed -n '0,/<version>/s:.*<version>\(.*\)</version>.*:\1:p' "$root/pom.xml"; }

# install_below PREFIX
install_below() {
    [ $# = 1 ] && [ -n "$1" ] && [ "${1#-}" = "$1" ] || die 64 "usage: $0 install PREFIX"
    local prefix home next version
    umask 022 # it is for others too
    mkdir -p "$1/lib" || die 77 "$1 cannot be made"
    prefix=$(readlink -f "$1")
    home=$prefix/lib/udckpt
    case $prefix in
        *[\ :]*)
            die 64 "ranks could not preload the library from $prefix: LD_PRELOAD ends a name at a space or colon;" \
                "give another prefix"
            ;;
    esac
    [ ! -e "$home" ] || die 64 \
        "there is an installation in $prefix already, which checkpoints may need that were taken with it:" \
        "give each version a prefix of its own, or remove $home"
    version=$(project_version)
    next=$(mktemp -d "$prefix/lib/.udckpt.XXXXXX") # complete, or not there
    # shellcheck disable=SC2064 # now: at the exit the name means nothing any more
    trap "rm -rf '$next'" EXIT
    stage_parts "$next"
    printf '%s\n' "$java_home" >"$next/jdk"
    chmod 755 "$next"
    chmod 644 "$next/jdk"
    install_shared "$prefix" "$version"
    mv -T "$next" "$home"
    trap - EXIT
    archive_installed "$home"
    install -D -m 755 "$root/scripts/installed-udckpt" "$prefix/bin/udckpt"
    say "installed udckpt $version: $prefix/bin/udckpt; modulefile: module use $prefix/share/modulefiles"
}

# stage_parts HOME: what runs
stage_parts() {
    mkdir -p "$1/java" "$1/scripts"
    install -m 755 "$native/libudckpt.so" "$native/libudckpt-agent.so" "$native/libdisni.so" "$native/udckpt-shepherd" \
        "$native/udckpt-guard" "$1"
    ! [ -x "$native/udckpt-pmix" ] || install -m 755 "$native/udckpt-pmix" "$1" # where libpmix is
    install -m 644 "$root"/cli/target/*.jar "$root"/cli/target/lib/*.jar "$1/java"
    install -m 644 "$root"/scripts/{say,jdk,java,installed,limits}.sh "$1/scripts"
    needed_flags >"$1/jvm-flags"
    chmod 755 "$1/java" "$1/scripts"
    chmod 644 "$1/jvm-flags"
}

install_shared() {
    local prefix=$1 version=$2
    install_pages "$prefix"
    install -D -m 644 /dev/null "$prefix/share/modulefiles/udckpt/$version"
    sed -e "s:@PREFIX@:$prefix:g" -e "s:@VERSION@:$version:g" "$root/share/modulefile" \
        >"$prefix/share/modulefiles/udckpt/$version"
}

# install_pages PREFIX: what is read, and not run
install_pages() {
    local prefix=$1 page
    (cd "$root" && find README.md docs -type f) | while IFS= read -r page; do
        install -D -m 644 "$root/$page" "$prefix/share/doc/udckpt/$page"
    done
    for file in "$root"/cli/target/pages/man1/*.1; do
        install -D -m 644 "$file" "$prefix/share/man/man1/${file##*/}"
    done
    install -D -m 644 "$root/cli/target/pages/bash/udckpt" "$prefix/share/bash-completion/completions/udckpt"
    install -D -m 644 "$root/cli/target/pages/zsh/_udckpt" "$prefix/share/zsh/site-functions/_udckpt"
    install -D -m 755 "$root/share/slurm/job.sh" "$prefix/share/udckpt/slurm/job.sh"
}

# An archive of classes is good for the class path alone that it was made with. Where none can be made commands start
# more slowly.
archive_installed() {
    (
        # shellcheck source=/dev/null
        . "$root/scripts/training.sh"
        root=$1
        # shellcheck source=/dev/null
        . "$root/scripts/java.sh"
        # shellcheck source=/dev/null
        . "$root/scripts/installed.sh"
        work=$(mktemp -d)
        export UDCKPT_RUNTIME=$work/runtime UDCKPT_KEY_FILE=$work/key
        remember_limits
        set_locale
        set_thread_signal
        train_archives "$work" "$work/log" ||
            say "the classes could not be archived, so commands start more slowly: $(tail -1 "$work/log")"
        rm -rf "$work"
    )
}
