# Boots the virtual machine with a task and waits for its end.
# Emulated, not KVM: the stock kernel does not come up under nested virtualization everywhere. Two processors at most:
# more that wait for each other's interrupts on a machine with less to spare are slower. No tsc=reliable: an emulated
# processor's clock is not. No SMAP: this QEMU pops an iretq's frame as the kernel would, which SMAP forbids.

# boot TASK SECONDS: the task's output goes to standard output while it runs; returns the task's exit code.
boot() {
    local task=$1 limit=$2 share=$run/share qemu follower
    mkdir -p "$share"
    cp "$task" "$share/task"
    printf 'root=%q\nJAVA_HOME=%q\nsolve=%q\nbrake=%q\n' "$root" "$java_home" "${solve-}" "$brake" >"$share/environment"
    : >"$share/output"
    rm -f "$share/status"
    nice -n 1 timeout -k 5 "$limit" qemu-system-x86_64 -nodefaults -no-user-config \
        -accel tcg,thread=multi -cpu max,-smap -smp "$(($(nproc) > 1 ? 2 : 1))" -m 3072 \
        -kernel "$work/vmlinux" -initrd "$work/initrd.gz" \
        -append "console=ttyS0 quiet panic=-1 mitigations=off random.trust_cpu=on" \
        -drive "file=$work/disk.ext4,if=none,id=disk,format=raw,snapshot=on" -device virtio-blk-pci,drive=disk \
        -fsdev "local,path=$root,security_model=none,readonly=on,id=project" \
        -device virtio-9p-pci,fsdev=project,mount_tag=project \
        -fsdev "local,path=$share,security_model=none,id=lab" -device virtio-9p-pci,fsdev=lab,mount_tag=lab \
        -device virtio-rng-pci -display none -serial "file:$run/console" -no-reboot </dev/null &
    qemu=$!
    tail -n +1 -f --pid="$qemu" "$share/output" 2>/dev/null &
    follower=$!
    trap 'kill "$qemu" 2>/dev/null || true' EXIT INT TERM
    wait "$qemu" || say "the virtual machine was ended after $limit s, or did not start; its console is in $run/console"
    wait "$follower" || true
    trap - EXIT INT TERM
    [ -s "$share/status" ] || { tail -5 "$run/console" >&2; return 124; }
    return "$(cat "$share/status")"
}
