# After java.sh: where things are in an installation (install.sh).
native=$root
more_classes=
archive=$root/classes.aot

needed_flags() { cat "$root/jvm-flags"; }

class_path() {
    local jars=("$root"/java/*.jar)
    (IFS=: && printf '%s' "${jars[*]}")
}

# The JDK that it was installed with, whose archive of classes it is; another one where that is gone.
find_installed_jdk() {
    java_home=$(cat "$root/jdk")
    is_jdk_25 "$java_home" || require_jdk
}
