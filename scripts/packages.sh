# Debian packages: says what is missing, installs it when it may, and does nothing when all is there.

# What each verb needs: a compiler and a build tool, an MPI with UCX, the verbs headers and tools;
# gdb, valgrind, ip(8), file systems with reflinks, foreign clients and a parser of metrics for tests and the overhead
# benchmark.
base_packages="gcc libc6-dev make cmake maven mpich libmpich-dev libibverbs-dev librdmacm-dev libxxhash-dev libssl-dev"
base_packages="$base_packages ibverbs-utils rdmacm-utils perftest gdb valgrind procps iproute2 btrfs-progs xfsprogs"
base_packages="$base_packages strace bindfs python3-prometheus-client environment-modules"

# For `./udckpt test programs`: an X server and Mesa's software renderer, an emulator, servers.
program_packages="g++ binutils xvfb libgl1-mesa-dri libgl-dev libx11-dev qemu-system-x86 redis-server nginx-light"
program_packages="$program_packages python3"

# For `./udckpt test slurm`. Debian's own services have no configuration and do not start.
slurm_packages="slurmctld slurmd slurm-client munge"

# For `./udckpt test ssh`, which starts servers of its own.
ssh_packages="openssh-server openssh-client"

# For `./udckpt test fuzz`: clang with libFuzzer. (Jazzer comes from Maven Central.)
fuzz_packages="clang libclang-rt-14-dev"

# For `./udckpt package`.
package_packages="zstd unzip rpm git"

# For `./udckpt lint`.
lint_packages="git python3 shellcheck clang-format clang-tidy codespell libpmix-dev"

missing_packages() {
    local package
    for package in "$@"; do
        [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || printf '%s\n' "$package"
    done | paste -sd ' '
}

# All of apt-cache's output is read: one that is cut off dies of SIGPIPE, and pipefail makes that a "no".
apt_offers() { apt-cache policy "$1" 2>/dev/null | grep 'Candidate: [0-9]' >/dev/null; }

# Those of the arguments that this Debian has; the others are named.
offered_packages() {
    local package
    for package; do
        if [ -z "$(missing_packages "$package")" ] || apt_offers "$package"; then
            printf '%s\n' "$package"
        else
            say "this system has no package $package: what needs it does not run"
        fi
    done
}

# Once for all that is installed. A source that does not answer is apt's warning only: another may do.
update_package_lists() {
    [ -z "${package_lists_updated-}" ] || return 0
    apt-get update -qq >&2 || say "apt-get update failed: going on with the package lists that are there"
    package_lists_updated=1
}

install_packages() {
    local missing unknown log
    command -v dpkg-query >/dev/null || die 69 "this is not a Debian system: install these by hand: $*"
    missing=$(missing_packages "$@")
    [ -n "$missing" ] || return 0
    [ "$(id -u)" = 0 ] || die 77 \
        "packages are missing; run once as root: apt-get install --no-install-recommends $missing"
    say "installing: $missing"
    update_package_lists
    unknown=$(for package in $missing; do apt_offers "$package" || printf '%s ' "$package"; done)
    [ -z "$unknown" ] || die 69 \
        "apt offers no ${unknown% }: udckpt needs the network or a mirror of Debian 12 (main) here;" \
        "see that 'apt-get update' works, and try again"
    log=$(mktemp /tmp/udckpt-install.XXXXXX)
    # shellcheck disable=SC2086 # a list of words
    DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing </dev/null >"$log" 2>&1 || {
        tail -20 "$log" >&2
        die 69 "apt-get could not install $missing: see above, and all of it in $log; mend the cause and try again"
    }
    rm -f "$log"
    say "installed: $missing"
}

# First of all installations: without a JDK the others are in vain.
install_jdk() {
    local package
    find_jdk && return 0
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        update_package_lists
        for package in temurin-25-jdk openjdk-25-jdk-headless; do
            if apt_offers "$package"; then
                install_packages "$package"
                break
            fi
        done
    fi
    require_jdk
}

# nwchem-mpich recommends nothing that we need but brings Open MPI's mpiexec and mpicc along.
install_nwchem() { install_beside_mpich nwchem-mpich; }

# For the tests of its launcher (mpirun.openmpi) and of ours for its ranks (udckpt-pmix).
install_openmpi() { install_beside_mpich openmpi-bin libopenmpi-dev libpmix-dev; }

# Fortran coarrays over both MPIs, for the tests of process trees: 1 MB to fetch, 17 MB on the disk (most of it tests of
# their own).
install_coarrays() { install_beside_mpich libcoarrays-mpich-dev libcoarrays-openmpi-dev; }

# What brings Open MPI takes over Debian's alternatives; where MPICH was in charge it is put back.
install_beside_mpich() {
    local before
    [ -n "$(missing_packages "$@")" ] || return 0
    before=$(readlink -f /usr/bin/mpicc || true)
    install_packages "$@"
    if [ "$(basename "$before")" = mpicc.mpich ]; then
        update-alternatives --set mpi /usr/bin/mpicc.mpich >&2
        update-alternatives --set mpirun /usr/bin/mpirun.mpich >&2
        ! [ -d /usr/include/x86_64-linux-gnu/mpich ] || update-alternatives --set mpi-x86_64-linux-gnu \
            /usr/include/x86_64-linux-gnu/mpich >&2
    fi
}
