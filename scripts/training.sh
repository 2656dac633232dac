# After java.sh: makes the archives of classes, by doing what users do.

trainings=org.udckpt.cli.classarchive
training_program=$native/programs/restart_clock
[ -x "$training_program" ] || training_program= # no MPI is there

# train_archives WORK LOG: fails where there is none at all
train_archives() {
    rm -f "$archive" "$restart_archive"
    if train "$archive" "$2" "$trainings.Training" "$1" ${training_program:+"$training_program"}; then
        train "$restart_archive" "$2" "$trainings.RestartTraining" "$1" ||
            say "the classes of a restart could not be archived, so restarts start more slowly:" \
                "$(grep '^training:' "$2" | tail -1)"
    else # where no process may be traced (a container that builds), the commands alone
        train "$archive" "$2" org.udckpt.cli.Main status
    fi
}

# train ARCHIVE LOG CLASS ARGUMENT...: leaves the archive of what the class has done
train() {
    local file=$1 log=$2
    shift 2
    # shellcheck disable=SC2046 # flags are words
    timeout -k 5 300 "$java_home/bin/java" $(java_flags run) -XX:AOTCacheOutput="$file" -Dudckpt.root="$root" \
        -Dudckpt.native="$native" -cp "$(class_path)" "$@" >>"$log" 2>&1 </dev/null && [ -f "$file" ] || {
        rm -f "$file" # a JVM leaves one however it ends
        return 1
    }
}
