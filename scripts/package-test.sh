# `./udckpt test packages`: two packages of one commit are the same bytes, all formats have the same files, and a
# package runs where it was moved to, where nothing can be written, and with another runtime than it was made with.

# test_packages [--clone yes]: with --clone the second package comes from a clone elsewhere, which is built for that
test_packages() {
    local clone="" place
    while [ $# -gt 0 ]; do
        case ${1-},${2-} in
            --clone,yes) clone=yes ;;
            *) die 64 "usage: ./udckpt test packages [--clone yes]" ;;
        esac
        shift 2
    done
    [ "$(id -u)" = 0 ] || die 77 "only root can make a read-only place: run it as root"
    place=$(mktemp -d /var/tmp/udckpt-packages.XXXXXX)
    # shellcheck disable=SC2064 # now
    trap "rm -rf --one-file-system '$place'" EXIT
    export PACKAGE_LEVEL=1 quick=1 # package.sh; of the clone too
    package --output "$place/first"
    if [ -n "$clone" ]; then
        git clone -q "$root" "$place/clone"
        (unset UDCKPT_NO_BUILD SOURCE_DATE_EPOCH && "$place/clone/udckpt" package --output "$place/second") ||
            die 1 "no package of a clone"
    else
        package --output "$place/second"
    fi
    same_packages "$place/first" "$place/second"
    same_files "$place/first"
    unpacked_package "$place"
}

# same_packages ONE OTHER
same_packages() {
    local file
    for file in "$1"/*; do
        cmp "$file" "$2/${file##*/}" || die 1 "two packages of one commit differ: ${file##*/}"
        say "twice the same bytes: ${file##*/}"
    done
}

# same_files DIRECTORY: of the .deb, the .rpm and the tarball, below their prefixes. Directories are not compared: a
# .deb names those above its files too.
same_files() {
    local list=$1/lists
    mkdir -p "$list"
    dpkg-deb --fsys-tarfile "$1"/*.deb | tar -t | sed -n 's:^\./usr/\(.*[^/]\)$:\1:p' | LC_ALL=C sort >"$list/deb"
    rpm -qp --queryformat '[%{FILEMODES:perms} %{FILENAMES}\n]' "$1"/*.rpm | sed -n 's:^[^d][^ ]* /usr/::p' |
        LC_ALL=C sort >"$list/rpm"
    tar --zstd -tf "$1"/*.tar.zst | sed -n 's:^[^/]*/\(.*[^/]\)$:\1:p' | LC_ALL=C sort >"$list/tar"
    [ "$(wc -l <"$list/deb")" -gt 100 ] || die 1 "the Debian package is as good as empty"
    diff "$list/deb" "$list/rpm" || die 1 "the Debian package and the RPM have different files"
    diff "$list/deb" "$list/tar" || die 1 "the Debian package and the tarball have different files"
    say "$(wc -l <"$list/deb") files, the same in each format"
}

# unpacked_package PLACE: a job in a read-only directory, moved since it was unpacked, then with another runtime
unpacked_package() {
    local home
    mkdir "$1/unpacked"
    tar -C "$1/unpacked" --zstd -xf "$1"/first/*.tar.zst
    mv "$1"/unpacked/udckpt-* "$1/elsewhere"
    home=$1/elsewhere
    job_script >"$1/job.sh"
    # installed.sh holds the directory open for the JVM alone.
    # shellcheck disable=SC2016 # for that shell
    [ "$("$home/bin/udckpt" run -n 1 -- sh -c 'ls -l /proc/self/fd' | grep -c "$home")" = 0 ] ||
        die 1 "a rank of a package has a descriptor of its directory"
    package_job "$1" read-only
    # Another runtime: its archive of classes is no good, and is not used.
    touch "$home/lib/udckpt/runtime/lib/modules"
    package_job "$1" other-runtime
    rm "$home/lib/udckpt/classes.jsa" "$home/lib/udckpt/restart.jsa"
    package_job "$1" without-classes
}

# package_job PLACE NAME: says nothing that an undisturbed one does not say
package_job() {
    # shellcheck disable=SC2016 # for that shell
    unshare --mount --propagation private sh -euc 'mount --bind "$1" "$1"
        mount -o remount,ro,bind "$1"
        ! touch "$1/lib/udckpt/there" 2>/dev/null
        exec sh "$2" "$1/bin/udckpt" "$3" "$4"' sh "$1/elsewhere" "$1/job.sh" "$1/$2" "$native/programs/stencil_cg" \
        >"$1/$2.log" 2>&1 || {
        cat "$1/$2.log" >&2
        die 1 "a package that is $2 does not run a job: see above"
    }
    # Nothing of the archive of classes.
    ! grep -iE 'archive|cds|\[warning\]' "$1/$2.log" >&2 || die 1 "a package that is $2 complains: see above"
    say "a job from run to restart, $2: right"
}
