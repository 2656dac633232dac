#!/bin/sh
# Makes what programs are linked with in place of this machine's C library: shared libraries with its symbols, each in
# the newest version that OLDEST has too. A program that is linked so runs with each C library from OLDEST on. What
# OLDEST does not have the linker misses by name (native/src/main/c/oldest-libc has what stands in for it).
#
# oldest-libc.sh OLDEST COMPILER DIRECTORY
set -eu
oldest=$1 compiler=$2 directory=$3
# Made at the end. A newer C library has the same old symbols.
[ -z "$(find "$directory/libc.so" -newer "$0" 2>/dev/null)" ] || exit 0
rm -rf "$directory"
mkdir -p "$directory"
cd "$directory"
for library in libc.so.6 libpthread.so.0 libdl.so.2; do
    printf 'library %s\n' "$library"
    LC_ALL=C readelf --wide --dyn-syms "$("$compiler" -print-file-name=$library)"
done | awk -v oldest="$oldest" '
    function number(version, parts) {
        split(version, parts, ".")
        return parts[1] * 1000000 + parts[2] * 1000 + parts[3]
    }
    # Since 2.34 functions of libpthread and libdl are in libc, in a version of their own beside the old one. An older
    # loader looks for them in the library that is named beside the version, and nowhere else.
    function home(name) {
        if (newest[name] <= number(oldest)) return place[name]
        if (name ~ /^(__)?(pthread|sem)_/) return "libpthread.so.0"
        if (name ~ /^dl/) return "libdl.so.2"
        return name ~ /^(aio|lio|mq|shm|timer)_/ ? "" : place[name]
    }
    $1 == "library" { library = $2 }
    $4 ~ /^(FUNC|IFUNC|OBJECT)$/ && $7 != "UND" && $8 ~ /@GLIBC_[0-9.]+$/ {
        split($8, parts, /@+GLIBC_/)
        name = parts[1]
        version = number(parts[2])
        if ($8 ~ /@@/) newest[name] = version
        if (version > number(oldest) || version < best[name]) next
        best[name] = version
        node[name] = parts[2]
        place[name] = library
        size[name] = $4 == "OBJECT" ? $3 : 0
        address[name] = $2
        binding[name] = $5 == "WEAK" ? ".weak " : ".globl "
    }
    END {
        for (name in best) {
            if (!(name in newest) || !(library = home(name))) continue # no new program is linked with it
            assembler = library ".s"
            map = library ".map"
            print "GLIBC_" node[name] " { " name "; };" > map
            print binding[name] name > assembler
            if (size[name]) {
                # One variable under several names (environ, __environ) stays one, weak names weak: by that the
                # linker sees to it that a program which has a copy of it has it under all of them. Else the library
                # would go on with its own.
                variable = library " " address[name]
                labels[variable] = labels[variable] ".type " name ",@object\n.size " name "," size[name] "\n" name ":\n"
                if (size[name] > room[variable]) room[variable] = size[name]
            } else print ".text\n.type " name ",@function\n" name ": .zero 1" > assembler
        }
        for (variable in labels) {
            split(variable, parts, " ")
            print ".data\n.balign 32\n" labels[variable] ".zero " room[variable] > (parts[1] ".s")
        }
    }'
for map in *.map; do
    library=${map%.map}
    # One node for each version, with all of its names.
    LC_ALL=C sort "$map" | awk '
        $1 != version { if (version) print "};"; print $1, "{"; version = $1 }
        { print $3 }
        END { print "};" }' >"$map.nodes"
    "$compiler" -shared -nostdlib -Wl,-soname,"$library" -Wl,--version-script,"$map.nodes" -o "$library" "$library.s"
done
# For -lc, as the C library's own script for the linker has it; and for -lpthread and -ldl.
loader=$("$compiler" -print-file-name=ld-linux-x86-64.so.2)
nonshared=$("$compiler" -print-file-name=libc_nonshared.a)
printf 'GROUP ( %s/libc.so.6 %s AS_NEEDED ( %s ) )\n' "$PWD" "$nonshared" "$loader" >libc.so
ln -s libpthread.so.0 libpthread.so
ln -s libdl.so.2 libdl.so
