#!/usr/bin/env bash
# Makes target/classes.aot, an archive of loaded and linked classes with which every command of this project starts in
# about half of the time, and a first checkpoint is written sooner. Maven runs it when the jars are made (cli/pom.xml).
set -euo pipefail
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
for part in say jdk java; do
    # shellcheck source=/dev/null
    . "$root/scripts/$part.sh"
done

# archive_after CLASS ARGUMENT...: leaves the archive of what the class has done
archive_after() {
    # shellcheck disable=SC2046 # flags are words
    timeout -k 5 300 "$java_home/bin/java" $(java_flags run) -XX:AOTCacheOutput="$archive" -Dudckpt.root="$root" \
        -Dudckpt.native="$native" -cp "$(class_path)" "$@" >"$log" 2>&1 </dev/null && [ -f "$archive" ]
}

require_jdk
mkdir -p "$root/target"
log=$root/target/archive.log
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export UDCKPT_RUNTIME=$work/runtime UDCKPT_KEY_FILE=$work/key
remember_limits
set_locale
set_thread_signal
rm -f "$archive"
# Before the archive is made: it fits exactly these jars.
"$java_home/bin/java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$(class_path)" \
    org.udckpt.cli.classarchive.OldClasses "$root/cli/target/lib" >"$log" 2>&1 ||
    { cat "$log" >&2; exit 70; }
mpi_program=$native/programs/restart_clock # none where there is no MPI
[ -x "$mpi_program" ] || mpi_program=
# Where no process may be traced (a container that builds), the commands alone.
archive_after org.udckpt.cli.classarchive.Training "$work" ${mpi_program:+"$mpi_program"} ||
    archive_after org.udckpt.cli.Main status ||
    say "the classes could not be archived, so commands start more slowly; $log says why"
