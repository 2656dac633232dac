# `./udckpt package`: udckpt with a Java runtime of its own, as a tarball, a Debian package and an RPM
# (docs/operator/install.md). Two packages of one commit are the same bytes.

# What the jars need of the JDK; `jdeps -s` of each says it. java.management is asked for by name only.
runtime_modules=java.base,java.logging,java.management,java.naming,java.sql,java.xml,jdk.httpserver,jdk.unsupported
# What a build and its tests need beside: where a system has no JDK 25, the runtime of a package is one.
build_modules=java.instrument,java.net.http,jdk.compiler,jdk.management,jdk.zipfs
# The level of compression, where time counts and size does not: in tests.
quick=${PACKAGE_LEVEL-}
# What the archives of classes are to hold; `./udckpt package --train` writes them.
class_list=$root/share/package/classes.zst restart_class_list=$root/share/package/restart-classes.zst

# package [--output DIR] [--formats tar,deb,rpm] | package --train
package() {
    local output=$root/target/package formats=tar,deb,rpm format version stage
    if [ "${1-}" = --train ] && [ $# = 1 ]; then
        train_classes
        return
    fi
    while [ $# -gt 0 ]; do
        case ${1-},${2-} in
            --output,?*) output=$2 ;;
            --formats,[a-z]*) formats=$2 ;;
            *) die 64 "usage: ./udckpt package [--output DIR] [--formats tar,deb,rpm] | ./udckpt package --train" ;;
        esac
        shift 2
    done
    for format in ${formats//,/ }; do
        case $format in tar | deb | rpm) ;; *) die 64 "there is no format '$format'; there are tar, deb and rpm" ;; esac
    done
    umask 022
    build_as_named
    version=$(project_version)
    SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || echo 0)}
    export SOURCE_DATE_EPOCH
    mkdir -p "$output" || die 77 "$output cannot be made"
    output=$(readlink -f "$output")
    stage=$root/target/package/stage/udckpt-$version
    rm -rf "$root/target/package/stage"
    stage_package "$stage"
    for format in ${formats//,/ }; do
        "pack_$format" "$stage" "$output" "$version"
    done
}

# A package has the name of its commit in it: what was built of an earlier one is made anew, also where nothing that is
# built has changed since.
build_as_named() {
    local named=$root/cli/target/classes/udckpt-version before
    before=$(cat "$named" 2>/dev/null || true)
    "$root/scripts/version.sh" "$(project_version)" "$named"
    [ "$before" = "$(cat "$named")" ] || rm -f "$stamp"
    (unset UDCKPT_NO_BUILD && build)
}

# stage_package PREFIX: all that a package holds, with the modes and times that it has there
stage_package() {
    local home=$1/lib/udckpt
    mkdir -p "$1/bin" "$home"
    stage_parts "$home"
    install -m 755 "$root/scripts/installed-udckpt" "$1/bin/udckpt"
    install_pages "$1"
    stage_modulefile "$1"
    stage_licences "$1/share/doc/udckpt"
    stage_bill "$1/share/doc/udckpt"
    link_runtime "$home/runtime"
    find "$1" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} + # the archive knows its jars by their times
    archive_classes "$home"
    touch -h -d "@$SOURCE_DATE_EPOCH" "$home/classes.jsa" "$home/restart.jsa" "$home"
    find "$1" -type f -perm /111 -exec chmod 755 {} + -o -type f -exec chmod 644 {} + -o -type d -exec chmod 755 {} +
}

# It finds its own place: a package can be unpacked anywhere.
stage_modulefile() {
    install -D -m 644 /dev/null "$1/share/modulefiles/udckpt/$version"
    sed -e "s:@VERSION@:$version:g" -e "s:@PREFIX@:\$prefix:g" -e '1a\
set prefix [file normalize [file join $ModulesCurrentModulefile .. .. .. ..]]' -e '/^proc ModulesHelp/a\
    global prefix' "$root/share/modulefile" >"$1/share/modulefiles/udckpt/$version"
}

# Of this project, and of each jar that brings its own; those of the runtime lie in its directory legal/.
stage_licences() {
    local jar name entry
    install -D -m 644 "$root/LICENSE" "$1/LICENSE"
    install -m 644 "$root/CHANGELOG.md" "$root/SECURITY.md" "$1"
    for jar in "$root"/cli/target/lib/*.jar; do
        name=$(basename "$jar" .jar)
        # Some have none.
        unzip -Z1 "$jar" | { grep -iE '^(META-INF/)?(LICENSE|NOTICE|COPYING)[^/]*$' || true; } |
            while IFS= read -r entry; do
                mkdir -p "$1/licences/$name"
                unzip -p "$jar" "$entry" >"$1/licences/$name/${entry##*/}"
            done
    done
}

# The bill of materials, in CycloneDX's form: each jar with version, licence and digest.
stage_bill() {
    maven -q org.cyclonedx:cyclonedx-maven-plugin:2.9.1:makeAggregateBom -DoutputFormat=json -DoutputName=sbom \
        -DincludeTestScope=false -Dcyclonedx.skipNotDeployed=false -DincludeBomSerialNumber=false \
        >"$root/target/sbom.log" 2>&1 ||
        die 70 "the bill of materials could not be made: see $root/target/sbom.log"
    install -m 644 "$root/target/sbom.json" "$1/sbom.json"
}

link_runtime() {
    "$java_home/bin/jlink" --add-modules "$runtime_modules,$build_modules" --vm server --strip-debug --no-man-pages \
        --compress zip-0 --output "$1" >"$root/target/jlink.log" 2>&1 ||
        die 70 "the Java runtime could not be linked: see $root/target/jlink.log"
    name_providers "$1"
    # Whom it trusts the system says that it runs on, and not this one (Debian: ca-certificates-java).
    ln -sf /etc/ssl/certs/java/cacerts "$1/lib/security/cacerts"
}

# name_providers RUNTIME: the providers of cryptography that it has. It looks for each other one on the class path, and
# loads what it finds there (Bouncy Castle: half a second before a restarted job's first instruction).
name_providers() {
    local settings=$1/conf/security/java.security names
    names=$("$1/bin/java" -XshowSettings:security:providers -version 2>&1 | sed -n 's/^ *Provider name: //p') &&
        [ -n "$names" ] || die 70 "the linked runtime does not say which providers of cryptography it has"
    awk -v names="$names" '
        BEGIN { split(names, all, "\n"); for (i in all) there[all[i]] = 1 }
        /^security\.provider\.[0-9]+=/ {
            sub(/^[^=]*=/, "")
            split($0, words, " ")
            if (words[1] in there) print "security.provider." ++count "=" $0
            next
        }
        { print }' "$settings" >"$settings.new"
    mv "$settings.new" "$settings"
    grep -q '^security.provider.1=' "$settings" || die 70 "the linked runtime has no provider of cryptography"
}

# archive_classes HOME: as archive.sh does for the tree, but from lists: a run leaves another archive each time.
archive_classes() {
    (
        root=$1
        # shellcheck source=/dev/null
        . "$root/scripts/java.sh"
        # shellcheck source=/dev/null
        . "$root/scripts/installed.sh"
        find_installed_jdk
        set_locale
        # By names that lead to them on each machine: the archive has them in it, and is the same wherever it was made.
        hold_jars || exit
        jars=$(root=/proc/self/fd/$jars_descriptor && class_path)
        archive_list "$class_list" "$root/classes.jsa" && archive_list "$restart_class_list" "$root/restart.jsa"
    ) >"$root/target/package.log" 2>&1 ||
        die 70 "the classes could not be archived: see $root/target/package.log"
}

# archive_list LIST FILE: with what calls of methods and lambdas are linked to, as the tree's has it
archive_list() {
    local file
    for file in "$2" "$2.again"; do
        # shellcheck disable=SC2046 # flags are words
        zstd -dc "$1" | setarch -R "$java_home/bin/java" -Xshare:dump $(java_flags run) \
            -XX:+AOTClassLinking \
            -XX:SharedClassListFile=/dev/stdin -XX:SharedArchiveFile="$file" -cp "$jars" || return
    done
    "$java_home/bin/java" -cp "$(class_path)" org.udckpt.cli.classarchive.SteadyArchive "$2" "$2.again" &&
        rm "$2.again"
}

# What a run of all that users do has loaded, and behind that what it has resolved in pools of constants; the same of
# a restart.
train_classes() {
    local work
    work=$(mktemp -d)
    # shellcheck disable=SC2064 # now
    trap "rm -rf '$work'" EXIT
    link_runtime "$work/java"
    (
        java_home=$work/java
        export UDCKPT_RUNTIME=$work/runtime UDCKPT_KEY_FILE=$work/key
        remember_limits
        set_locale
        set_thread_signal
        classes_of "$class_list" Training "$work" "$native/programs/restart_clock" &&
            classes_of "$restart_class_list" RestartTraining "$work"
    ) >"$root/target/package.log" 2>&1 || die 70 "the training run failed: see $root/target/package.log"
    for list in "$class_list" "$restart_class_list"; do
        say "$list has $(zstd -dc "$list" | grep -vc '^@') classes"
    done
}

# classes_of LIST TRAINING ARGUMENT...
classes_of() {
    local list=$1 training=$2
    shift 2
    # shellcheck disable=SC2046 # flags are words
    timeout -k 5 300 "$java_home/bin/java" $(java_flags run) -XX:DumpLoadedClassList="$work/list" \
        -Dudckpt.root="$root" -Dudckpt.native="$native" -cp "$(class_path)" \
        "org.udckpt.cli.classarchive.$training" "$@" </dev/null || return
    mkdir -p "${list%/*}"
    sed -e '/^#/d' -e 's/ id: .*//' "$work/list" | LC_ALL=C sort -u >"$work/sorted"
    { grep -v '^@' "$work/sorted" && grep '^@' "$work/sorted"; } | zstd -19 -q -f -o "$list"
}

# oldest_libc STAGE: the C library that is needed; ours need 2.28 (native/cmake/oldest-libc.cmake), the JDK's what its
# maker has linked them with
oldest_libc() {
    find "$1" -type f \( -name '*.so' -o -perm /111 \) -exec readelf --wide --version-info {} + 2>/dev/null |
        grep -oE 'Name: GLIBC_[0-9.]+' | sed 's/.*_//' | sort -Vu | tail -1
}

packed() { say "$1: $(($(stat -c %s "$1") / 1048576)) MiB, sha256 $(sha256sum "$1" | cut -d' ' -f1)"; }

# pack_tar STAGE OUTPUT VERSION
pack_tar() {
    local file=$2/udckpt-$3-linux-x86_64.tar.zst
    tar -C "$(dirname "$1")" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
        --format=gnu -cf - "udckpt-$3" |
        zstd "-${quick:-19}" -T2 -q -f -o "$file"
    packed "$file"
}

# pack_deb STAGE OUTPUT VERSION
pack_deb() {
    local file=$2/udckpt_$3_amd64.deb place=$root/target/package/deb
    rm -rf "$place"
    mkdir -p "$place/DEBIAN"
    cp -a "$1" "$place/usr"
    mkdir -p "$place/usr/share/udckpt"
    sed -e "s:@VERSION@:$3:" -e "s:@LIBC@:$(oldest_libc "$1"):" \
        -e "s:@SIZE@:$(du -sk --apparent-size "$place/usr" | cut -f1):" \
        "$root/share/package/control" >"$place/DEBIAN/control"
    find "$place" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
    dpkg-deb --root-owner-group -Zxz "-z${quick:-6}" --build "$place" "$file" >"$root/target/package.log" 2>&1 ||
        die 70 "no Debian package: see $root/target/package.log"
    packed "$file"
}

# pack_rpm STAGE OUTPUT VERSION
pack_rpm() {
    local file=$2/udckpt-$3-1.x86_64.rpm place=$root/target/package/rpm
    rm -rf "$place"
    mkdir -p "$place"
    sed -e "s:@VERSION@:$3:" -e "s:@LIBC@:$(oldest_libc "$1"):" \
        "$root/share/package/udckpt.spec" >"$place/udckpt.spec"
    rpmbuild -bb --quiet --define "_topdir $place" --define "stage $1" --define "_rpmdir $place" \
        --define "_binary_payload w${quick:-19}.zstdio" --define "_buildhost localhost" \
        --define "use_source_date_epoch_as_buildtime 1" \
        --define "clamp_mtime_to_source_date_epoch 1" "$place/udckpt.spec" \
        >"$root/target/package.log" 2>&1 || die 70 "no RPM: see $root/target/package.log"
    mv "$place/x86_64/${file##*/}" "$file"
    packed "$file"
}
