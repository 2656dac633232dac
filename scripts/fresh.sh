# `./udckpt test fresh`: udckpt on a machine that has nothing yet. A minimal Debian root in a directory, entered in
# namespaces of its own, gets MPICH by apt and udckpt by its package, and no JDK, Maven or compiler.

# test_fresh [--suite bullseye|bookworm|trixie] [--clone yes|tests] [--packages DIR]: --clone runs the README's first
# command in a clone as well, and with `tests` the tests of that system's MPIs and verbs clients; --packages takes the
# packages in DIR instead of building them
test_fresh() {
    local suite=trixie clone="" packages="" place code=0
    while [ $# -gt 0 ]; do
        case ${1-},${2-} in
            --suite,bullseye | --suite,bookworm | --suite,trixie) suite=$2 ;;
            --clone,yes | --clone,tests) clone=$2 ;;
            --packages,?*) packages=$(readlink -f "$2") || die 64 "no such directory: $2" ;;
            *) die 64 "usage: ./udckpt test fresh [--suite bullseye|bookworm|trixie]" \
                "[--clone yes|tests] [--packages DIR]" ;;
        esac
        shift 2
    done
    [ "$(id -u)" = 0 ] || die 77 "only root can make and enter a root directory of another system: run it as root"
    if [ -z "$packages" ]; then
        packages=$root/target/package
        package --formats tar,deb
    fi
    place=$(mktemp -d /var/tmp/udckpt-fresh.XXXXXX)
    # shellcheck disable=SC2064 # now
    trap "rm -rf --one-file-system '$place'" EXIT
    fresh_root "$suite" "$place/root"
    fresh_package "$place/root" "$packages" || code=$?
    if [ "$code" = 0 ] && [ -n "$clone" ]; then fresh_clone "$suite" "$place/root" "$clone" || code=$?; fi
    [ "$code" = 0 ] || die 1 "on a fresh $suite: see above"
    say "fresh $suite: all is well"
}

fresh_root() {
    mmdebstrap --quiet --variant=apt --components=main --include=mount,passwd "$1" "$2" \
        >"$root/target/fresh.log" 2>&1 ||
        die 74 "there is no minimal Debian $1: see $root/target/fresh.log"
    cp /etc/resolv.conf "$2/etc/resolv.conf"
}

# fresh_enter ROOT COMMAND...: in namespaces of its own, whose processes end with the command
fresh_enter() {
    local new=$1
    shift
    # shellcheck disable=SC2016 # for that shell
    unshare --mount --pid --uts --ipc --fork --kill-child --propagation private sh -euc '
        new=$1
        shift
        mount --bind "$new" "$new"
        mount --rbind /dev "$new/dev"
        mount -t proc proc "$new/proc"
        mount -t sysfs -o ro sysfs "$new/sys"
        mkdir -p "$new/dev/shm" "$new/.old"
        mount -t tmpfs -o mode=1777 shm "$new/dev/shm"
        mount -t tmpfs -o mode=1777 tmp "$new/tmp"
        cd "$new"
        pivot_root . .old
        umount -l /.old
        exec "$@"' sh "$new" env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        DEBIAN_FRONTEND=noninteractive "$@"
}

# The script `job.sh UDCKPT DIRECTORY PROGRAM`: a job that is checkpointed, ended and restarted, and ends as an
# undisturbed one does.
job_script() {
    cat <<'JOB'
set -eu
udckpt=$1 work=$2
program="$3 --grid 8 --iterations 10 --solves 100 --ballast 8 --brake $work/brake --late 500"
mkdir -p "$work"
cd "$work"
"$udckpt" --version
"$udckpt" check
"$udckpt" run -n 2 -- $program >alone.out
touch brake
"$udckpt" run -n 2 --name job --dir "$work/images" -- $program >first.out &
until grep -qs iteration first.out; do sleep 0.2; done
"$udckpt" status job
"$udckpt" checkpoint job --then kill
wait $!
rm brake
"$udckpt" restart "$work/images" >second.out
lines=$(wc -l <second.out)
tail -n "$lines" alone.out | cmp - second.out
tail -1 second.out
JOB
}

# For MPICH of any system that a package runs on.
old_program() {
    mpicc.mpich -O2 -I"$root/native/src/main/c" -o "$1" "$root/bench/src/main/c/stencil_cg.c" \
        "$root/native/src/main/c/oldest-libc/old_libc.c" -lm \
        "-L$native/oldest-libc" -Wl,--allow-shlib-undefined
}

# By the .deb, and by the tarball in a home directory, as an ordinary user: a job, a checkpoint with its end, a restart.
fresh_package() {
    local version
    version=$(project_version)
    mkdir -p "$1/root/udckpt"
    cp "$2/udckpt_${version}_amd64.deb" "$2/udckpt-$version-linux-x86_64.tar.zst" "$1/root/udckpt"
    old_program "$1/root/udckpt/stencil_cg"
    job_script >"$1/root/udckpt/job.sh"
    fresh_enter "$1" sh -euc '
        apt-get update -qq
        apt-get install -qq --no-install-recommends mpich libucx0 ibverbs-providers zstd /root/udckpt/*.deb >/dev/null
        for each in java javac mvn gcc; do ! command -v $each || exit 1; done # no fresh machine
        install -m 755 /root/udckpt/stencil_cg /usr/local/bin/stencil_cg
        sh /root/udckpt/job.sh udckpt /tmp/package stencil_cg
        useradd --create-home somebody
        tar -C /home/somebody --zstd -xf /root/udckpt/*.tar.zst
        cp /root/udckpt/job.sh /home/somebody
        cd /home/somebody
        setpriv --reuid somebody --regid somebody --clear-groups env HOME=/home/somebody \
            sh /home/somebody/job.sh /home/somebody/udckpt-*/bin/udckpt /tmp/tarball /usr/local/bin/stencil_cg'
}

# What of a system differs from Debian 12's and reaches into a job: its MPIs, PMIx, UCX, and clients of verbs.
stack_tests="OpenMpiHostsTest SeveralHostsRestartTest EndingsTest ProcessTreesTest ForeignClientsTest"

# fresh_clone SUITE ROOT yes|tests: on Debian 12 with the JDK of the package
fresh_clone() {
    git clone -q "$root" "$2/root/clone"
    # What this machine trusts, as its proxy.
    mkdir -p "$2/usr/local/share/ca-certificates"
    cp -r /usr/local/share/ca-certificates/. "$2/usr/local/share/ca-certificates"
    [ "$3" = tests ] || stack_tests=
    # shellcheck disable=SC2016 # for that shell
    fresh_enter "$2" sh -euc 'cd /root/clone
        apt-get install -qq --no-install-recommends ca-certificates >/dev/null
        [ "$1" = bookworm ] || apt-get purge -qq udckpt >/dev/null
        ./udckpt demo
        failed=
        for test in $2; do ./udckpt test "$test" || failed="$failed $test"; done
        [ -z "$failed" ] || { echo "failed:$failed" >&2 && exit 1; }' sh "$1" "$stack_tests"
}
