# Finds JDK 25 and sets java_home. The version is read from the JDK's own release file, because
# starting a JVM to ask it would cost more than most commands take.

is_jdk_25() {
    local release
    [ -x "$1/bin/javac" ] && [ -r "$1/release" ] || return 1
    IFS= read -r -d '' release <"$1/release" || true # at the end of the file
    [[ $'\n'$release == *$'\nJAVA_VERSION="25'* ]]
}

find_jdk() {
    local candidate
    for candidate in "${JAVA_HOME-}" /usr/lib/jvm/*25* /opt/*jdk*25* /usr/lib/udckpt/runtime; do
        if [ -n "$candidate" ] && is_jdk_25 "$candidate"; then
            java_home=$candidate
            return 0
        fi
    done
    candidate=$(command -v javac) && candidate=$(dirname "$(dirname "$(readlink -f "$candidate")")")
    if [ -n "$candidate" ] && is_jdk_25 "$candidate"; then
        java_home=$candidate
        return 0
    fi
    return 1
}

require_jdk() {
    find_jdk || die 69 "JDK 25 is needed and was not found in JAVA_HOME, /usr/lib/jvm, /opt or PATH." \
        "Debian 12 has none: the .deb of udckpt brings one ('apt-get install ./udckpt_VERSION_amd64.deb')." \
        "Or unpack any JDK 25 and set JAVA_HOME to it."
}
