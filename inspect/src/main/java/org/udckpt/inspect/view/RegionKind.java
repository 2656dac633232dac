package org.udckpt.inspect.view;

import java.util.Locale;
import org.udckpt.process.model.Region;

/** What a mapping is for, as far as it shows. */
public enum RegionKind {
    /** Executable pages of a program or library. */
    CODE,
    /** Other pages of mapped files; an image holds those that the job changed. */
    FILE,
    HEAP,
    STACK,
    /** Private memory without a file: what malloc(3) takes from mmap(2), stacks of threads. */
    ANONYMOUS,
    /** Addresses without access: guard pages, room that an allocator keeps. */
    RESERVED,
    /** An object whose contents are in the image by themselves, shared or not. */
    SHARED,
    /** [vdso], [vvar]: the kernel's own. */
    KERNEL;

    public static RegionKind of(Region region) {
        if (region.kernelOwned()) {
            return KERNEL;
        } else if (region.backing() != 0) {
            return SHARED;
        } else if (region.path().equals("[heap]")) {
            return HEAP;
        } else if (region.path().startsWith("[stack")) {
            return STACK;
        } else if (region.path().startsWith("/") && !region.path().equals("/anon_hugepage")
                && !region.path().startsWith("/dev/")) {
            return region.permissions().charAt(2) == 'x' ? CODE : FILE;
        }
        return region.permissions().startsWith("---") ? RESERVED : ANONYMOUS;
    }

    /** As people and JSON have it. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
