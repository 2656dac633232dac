#!/usr/bin/env bash
# Makes target/classes.aot, an archive of loaded and linked classes with which every command of this project starts in
# about half of the time, and a first checkpoint is written sooner; and target/restart.aot, that of restarts. Maven runs
# it when the jars are made (cli/pom.xml).
set -euo pipefail
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
for part in say jdk java training; do
    # shellcheck source=/dev/null
    . "$root/scripts/$part.sh"
done

require_jdk
mkdir -p "$root/target"
log=$root/target/archive.log
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export UDCKPT_RUNTIME=$work/runtime UDCKPT_KEY_FILE=$work/key
remember_limits
set_locale
set_thread_signal
rm -f "$archive" "$restart_archive"
# Before the archive is made: it fits exactly these jars.
IFS=: read -r -a jars <<<"$(class_path)"
"$java_home/bin/java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$(class_path)" \
    org.udckpt.cli.classarchive.ArchivableJars "${jars[@]}" >"$log" 2>&1 ||
    { cat "$log" >&2; exit 70; }
train_archives "$work" "$log" ||
    say "the classes could not be archived, so commands start more slowly; $log says why"
