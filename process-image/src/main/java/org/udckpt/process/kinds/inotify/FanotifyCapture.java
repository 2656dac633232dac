package org.udckpt.process.kinds.inotify;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.udckpt.linux.Files;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.User;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.OpenDescriptor;

/**
 * Groups and marks of fanotify(7), which fdinfo tells. Events that were not read can be taken by nobody, and a queue
 * without a limit cannot say that it lost some: a checkpoint waits until they were read.
 */
final class FanotifyCapture implements KindCapture, KindCapture.Looks {
    private static final Pattern GROUP =
            Pattern.compile("(?m)^fanotify flags:(\\p{XDigit}+) event-flags:(\\p{XDigit}+)$");
    private static final Pattern MARK = Pattern.compile("(?m)^fanotify (ino|mnt_id|sdev):(\\p{XDigit}+) "
            + "(?:sdev:(\\p{XDigit}+) )?mflags:(\\p{XDigit}+) mask:(\\p{XDigit}+) ignored_mask:(\\p{XDigit}+) ?"
            + "(?:fhandle-bytes:\\p{XDigit}+ fhandle-type:(\\p{XDigit}+) f_handle:(\\p{XDigit}+))?.*$");
    private static final int KIND = 1, NUMBER = 2, DEVICE = 3, FLAGS = 4, MASK = 5, IGNORED = 6, HANDLE_TYPE = 7,
            HANDLE = 8;

    private final CaptureScope scope;
    private final HandlePaths handles;

    FanotifyCapture(CaptureScope scope) {
        this.scope = scope;
        this.handles = new HandlePaths(scope);
    }

    /** Before any file is opened: whoever decides on that would be waited for while it stands still. */
    @Override
    public void look(OpenDescriptor open) {
        if (!open.link().equals(FanotifyGroup.LINK)) {
            return;
        }
        if (User.id() != 0) {
            throw open.refuse("fanotify can be checkpointed by root only; close it first");
        }
        if ((hex(group(open), 1) & FanotifyGroup.DECIDES) != 0) {
            throw open.refuse("this group of fanotify decides on what others do with files (FAN_CLASS_CONTENT), which "
                    + "cannot be checkpointed; close it first");
        }
    }

    @Override
    public boolean takes(OpenDescriptor open) {
        return open.link().equals(FanotifyGroup.LINK);
    }

    @Override
    public long read(OpenDescriptor open) {
        if (InotifyCapture.unread(open) > 0) {
            throw unread(open);
        }
        Matcher group = group(open);
        long id = scope.table().newId();
        scope.table().add(new FanotifyGroup(id, open.openFlags(), hex(group, 1), hex(group, 2)));
        Matcher mark = MARK.matcher(open.info());
        int marks = 0;
        for (; mark.find(); marks++) {
            scope.table().add(mark(open, id, mark));
        }
        if (marks != open.info().lines().filter(line -> line.startsWith("fanotify ")).count() - 1) {
            throw open.refuse("fanotify has a mark of a kind that cannot be checkpointed; remove it first");
        }
        return id;
    }

    /** Of a whole mount there are events all the time, of udckpt's own files among them. */
    private static RuntimeException unread(OpenDescriptor open) {
        String what = "fanotify has events that were not read";
        return open.info().contains("fanotify mnt_id:") || open.info().contains("fanotify sdev:")
                ? open.refuse(what + ", of a whole mount or file system; watch files and directories, or remove the "
                        + "mark first")
                : open.failed(what);
    }

    private static Matcher group(OpenDescriptor open) {
        Matcher group = GROUP.matcher(open.info());
        if (!group.find()) {
            throw open.refuse("this kernel does not tell of a group of fanotify (proc_pid_fdinfo(5)), so it cannot be "
                    + "checkpointed; close it first");
        }
        return group;
    }

    private static int hex(Matcher words, int group) {
        return Integer.parseUnsignedInt(words.group(group), 16);
    }

    private FanotifyMark mark(OpenDescriptor open, long group, Matcher mark) {
        String path = switch (mark.group(KIND)) {
            case "ino" -> file(open, mark);
            case "mnt_id" -> mount(open, hex(mark, NUMBER), -1);
            default -> mount(open, -1, Long.parseLong(mark.group(NUMBER), 16));
        };
        if (path == null) {
            throw open
                    .refuse("fanotify watches a file without a path, or on an invisible mount, or such a mount; remove"
                            + " the mark first");
        }
        int marked = switch (mark.group(KIND)) {
            case "ino" -> 0;
            case "mnt_id" -> FanotifyMark.MOUNT;
            default -> FanotifyMark.FILESYSTEM;
        };
        return new FanotifyMark(scope.table().newId(), group, path, marked, hex(mark, FLAGS), hex(mark, MASK),
                hex(mark, IGNORED));
    }

    private String file(OpenDescriptor open, Matcher mark) {
        return mark.group(HANDLE) == null ? null
                : handles.find(open, new WatchedFile(0, Long.parseUnsignedLong(mark.group(NUMBER), 16),
                        Long.parseLong(mark.group(DEVICE), 16), 0, hex(mark, HANDLE_TYPE),
                        java.util.HexFormat.of().parseHex(mark.group(HANDLE))));
    }

    /** Where the process sees a mount by its number, or one of a file system; null: nowhere. */
    private static String mount(OpenDescriptor open, int number, long device) {
        for (String line : Proc.text("/proc/" + open.process().task() + "/mountinfo").split("\n")) {
            String[] fields = line.split(" ");
            if (fields.length > 4 && (Integer.parseInt(fields[0]) == number
                    || fields[2].equals((device >> 20) + ":" + (device & 0xfffff)))
                    && isVisible(open.process().seen(fields[4]), fields[0])) {
                return fields[4];
            }
        }
        return null;
    }

    private static boolean isVisible(String path, String mount) {
        long file = Files.tryOpen(path, Syscall.O_PATH | Syscall.O_CLOEXEC);
        if (file < 0) {
            return false;
        }
        try {
            return mount.equals(Proc.field(Proc.whole("/proc/self/fdinfo/" + file), "mnt_id:"));
        } finally {
            Files.close((int) file);
        }
    }
}
