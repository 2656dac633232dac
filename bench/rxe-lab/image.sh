# Builds the virtual machine from Debian packages: vmlinux, initrd and a root file system with the JDK of this machine.
# rdma_rxe is in the stock kernel only (the cloud kernel has neither it nor siw).

lab_packages="kmod iproute2 procps gdb-minimal rdma-core ibverbs-providers ibverbs-utils perftest mpich"
boot_modules="virtio_pci virtio_blk virtio-rng ext4"

# The guest takes its packages from where this machine has its own, so that an image of a job which was taken in there
# finds the same libraries out here.
debian_sources() {
    local list=/etc/apt/sources.list deb822=/etc/apt/sources.list.d/debian.sources
    [ ! -s $list ] || sed -n '/^deb /p' $list
    [ ! -s $deb822 ] || awk '
        function out(i, n, suite) {
            n = split(suites, suite, " ")
            for (i = 1; i <= n; i++) print "deb", uris, suite[i], components
            suites = ""
        }
        /^URIs:/ { uris = $2 } /^Suites:/ { sub(/^Suites: */, ""); suites = $0 }
        /^Components:/ { sub(/^Components: */, ""); components = $0 } /^$/ { out() } END { out() }' $deb822
}

# The kernel is unpacked, not installed: its scripts would make an initrd of their own, for minutes.
# @source@: where it is from, if not from the root file system's packages.
kernel_hook='chroot "$1" sh -ec "
    cd /tmp
    @source@
    package=\$(apt-cache depends linux-image-amd64 | sed -n \"s/.*Depends: \(linux-image-[0-9].*\)/\1/p\")
    apt-get -qq download \$package
    dpkg-deb --fsys-tarfile linux-image-*.deb | tar -x --keep-directory-symlink -C /
    rm linux-image-*.deb
    depmod \${package#linux-image-}"'

make_root() {
    local mirror kernel_source=""
    debian_sources >"$work/sources.list"
    if [ "$kernel_suite" != bookworm ]; then
        mirror=$(awk '/ bookworm / { for (i = 2; i < NF; i++) if ($i ~ /:\/\//) print $i; exit }' "$work/sources.list")
        kernel_source="rm -f /etc/apt/sources.list.d/*; echo 'deb $mirror $kernel_suite main' >/etc/apt/sources.list
    apt-get -qq update"
    fi
    [ -s "$work/sources.list" ] ||
        die 69 "no Debian package source in /etc/apt/sources.list or sources.list.d/debian.sources"
    mmdebstrap --quiet --variant=minbase --include="$(echo $lab_packages | tr ' ' ,)" \
        --aptopt='Apt::Install-Recommends "false"' --dpkgopt='path-exclude=/usr/share/doc/*' \
        --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
        --customize-hook="${kernel_hook/@source@/$kernel_source}" \
        bookworm "$work/root.tar" - <"$work/sources.list" >"$work/mmdebstrap.log" 2>&1 ||
        { tail -5 "$work/mmdebstrap.log" >&2; die 69 "mmdebstrap failed; all of it is in $work/mmdebstrap.log"; }
    rm -rf "$work/root"
    mkdir "$work/root"
    tar -xf "$work/root.tar" -C "$work/root"
    rm "$work/root.tar"
    share_libraries
}

# A job that was checkpointed in there is restarted out here, and maps its libraries again: both sides have to have the
# same files. Where this machine's packages are a little older than the newest, it is this machine's that count.
share_libraries() {
    local file
    (cd "$work/root" && find usr/lib/x86_64-linux-gnu -maxdepth 2 -type f -name '*.so*') | while read -r file; do
        if [ -f "/$file" ] && { ! cmp -s "/$file" "$work/root/$file" ||
            [ "/$file" -nt "$work/root/$file" ] || [ "/$file" -ot "$work/root/$file" ]; }; then
            cp -p "/$file" "$work/root/$file"
        fi
    done
}

# The kernel uncompressed, for PVH boot: that inside of an emulated machine would take longer than the rest of the boot.
# The payload's place is in the setup header (Documentation/arch/x86/boot.rst: setup_sects, payload_offset,
# payload_length).
number_at() { od -An -v -t "u$3" -j "$2" -N "$3" "$1" | tr -d ' '; }
make_kernel() {
    local image=$1 start length
    start=$((($(number_at "$image" $((0x1f1)) 1) + 1) * 512 + $(number_at "$image" $((0x248)) 4)))
    length=$(number_at "$image" $((0x24c)) 4)
    local unpack="xz -dc --single-stream"
    if [ "$(number_at "$image" "$start" 4)" = $((0xfd2fb528)) ]; then # behind it is the uncompressed size
        unpack="zstd -dc"
        length=$((length - 4))
    fi
    dd if="$image" bs=1M iflag=skip_bytes,count_bytes skip="$start" count="$length" status=none |
        $unpack >"$work/vmlinux"
}

make_initrd() {
    local version=$1 tree=$work/initrd module file
    rm -rf "$tree"
    mkdir -p "$tree/bin" "$tree/modules"
    cp "$(command -v busybox)" "$tree/bin/busybox"
    cp "$lab/initrd-init" "$tree/init"
    for module in $boot_modules; do
        chroot "$work/root" modprobe -S "$version" --show-depends "$module" | awk '/^insmod/ { print $2 }'
    done | awk '!seen[$0]++' | while read -r file; do
        case $file in # no program in there uncompresses them
            *.xz) xz -dc "$work/root$file" >"$tree/modules/$(basename "$file" .xz)" ;;
            *) cp "$work/root$file" "$tree/modules/" ;;
        esac
        basename "$file" .xz >>"$tree/modules/order"
    done
    (cd "$tree" && find . | busybox cpio -o -H newc 2>/dev/null | gzip -1) >"$work/initrd.gz"
}

make_disk() {
    mkdir -p "$work/root$java_home" # at its own path: an archive of loaded classes knows it
    tar -C "$java_home" --exclude=./lib/src.zip --exclude=./jmods --exclude=./man -cf - . |
        tar -C "$work/root$java_home" -xf -
    cp "$lab/guest/init" "$work/root/init"
    rm -f "$work/disk.ext4"
    truncate -s 3G "$work/disk.ext4"
    mke2fs -q -t ext4 -O ^has_journal -d "$work/root" "$work/disk.ext4"
}

# What the image depends on; another text means another image. Each kernel has an image of its own.
image_recipe() { cat "$lab/image.sh" "$lab/initrd-init" "$lab/guest/init" "$java_home/release"; }

build_image() {
    local recipe version
    recipe=$(image_recipe | sha256sum | cut -d' ' -f1)
    [ "$(cat "$work/recipe" 2>/dev/null)" != "$recipe" ] || return 0
    say "building the virtual machine's image from Debian packages (some minutes, once)"
    mkdir -p "$work"
    rm -f "$work/recipe"
    make_root
    version=$(basename "$work"/root/lib/modules/*)
    make_kernel "$work/root/boot/vmlinuz-$version"
    make_initrd "$version"
    make_disk
    rm -rf "$work/root" "$work/initrd"
    printf '%s\n' "$recipe" >"$work/recipe"
}
