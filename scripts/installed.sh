# After java.sh: where things are in an installation (install.sh).
native=$root
more_classes=
archive=$root/classes.aot
restart_archive=$root/restart.aot
runtime=$root/runtime # of a package (package.sh)

read_needed_flags() { IFS= read -r -d '' needed <"$root/jvm-flags" || true; } # at the end of the file

# Where the archive of a package finds the jars, wherever it was unpacked: a descriptor of this directory, which the JVM
# gets. The archive names them by it (package.sh); where a name leads nowhere, the JVM looks for it once more for each
# of three thousand classes: a quarter of a short command's time. The number is below the least limit (limits.sh), and
# where somebody has it already the start is slow. No rank gets it: the JDK closes what it has open in each process that
# it starts.
jars_descriptor=199
hold_jars() { [ -e "/proc/self/fd/$jars_descriptor" ] || eval "exec $jars_descriptor<\"\$root\""; }

# That of a package is made in another way than by running (package.sh).
if [ -f "$root/classes.jsa" ]; then
    hold_jars 2>/dev/null || true
    set_archive_flags() {
        local file=$root/classes.jsa
        [ "$1" != restart ] || [ ! -f "$root/restart.jsa" ] || file=$root/restart.jsa
        archive_options=("-XX:SharedArchiveFile=$file" -Xlog:cds=off -Xlog:aot=off
            -XX:+UnlockDiagnosticVMOptions -XX:ArchiveRelocationMode=0)
    }
fi

set_class_path() {
    local IFS=: jars=("$root"/java/*.jar)
    jars_path=${jars[*]}
}

# A package has its own. Else the JDK that it was installed with, whose archive of classes it is; another one where that
# is gone.
find_installed_jdk() {
    if [ -x "$runtime/bin/java" ]; then
        java_home=$runtime
        return
    fi
    java_home=$(cat "$root/jdk")
    is_jdk_25 "$java_home" || require_jdk
}
