package org.udckpt.process.capture;

import org.udckpt.linux.Files;
import org.udckpt.process.kinds.base.StoppedProcess;

/**
 * A process in a mount namespace of the job's own, for a descriptor that it opened before it was there.
 *
 * @param mounts what leads to a path of where the job was started
 */
record OutsideProcess(StoppedProcess process, String mounts, boolean hasMountsOfItsOwn) implements DelegatedProcess {
    @Override
    public String rootDirectory() {
        return "/";
    }

    @Override
    public int mountNamespace() {
        return 0;
    }

    @Override
    public String seen(String path) {
        return mounts + path;
    }

    @Override
    public String outside(String path) {
        return path;
    }

    @Override
    public boolean ownsFileSystem(Files.Stat file, String through) {
        return false;
    }

    @Override
    public boolean fromOutside(String path, Files.Stat file) {
        return false;
    }
}
