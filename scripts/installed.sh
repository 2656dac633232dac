# After java.sh: where things are in an installation (install.sh).
native=$root
more_classes=
archive=$root/classes.aot
runtime=$root/runtime # of a package (package.sh)

needed_flags() { cat "$root/jvm-flags"; }

# That of a package is made in another way than by running (package.sh).
if [ -f "$root/classes.jsa" ]; then
    archive_flags() {
        printf '%s ' "-XX:SharedArchiveFile=$root/classes.jsa" -Xlog:cds=off -Xlog:aot=off \
            -XX:+UnlockDiagnosticVMOptions -XX:ArchiveRelocationMode=0
    }
fi

class_path() {
    local jars=("$root"/java/*.jar)
    (IFS=: && printf '%s' "${jars[*]}")
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
