# An emulated PC (TCG) with the guest of guest.S. $1: the boot sector, $2: the file that ends it.
(until [ -e "$2" ]; do sleep 0.1; done; echo) |
    qemu-system-x86_64 -accel tcg -m 16 -display none -monitor none -serial stdio -no-reboot -net none \
        -drive file="$1",format=raw,if=floppy,readonly=on
