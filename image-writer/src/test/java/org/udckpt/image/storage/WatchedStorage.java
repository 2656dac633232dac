package org.udckpt.image.storage;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;

/** The local file system, and somebody who is told of each call before it is made. */
public final class WatchedStorage {
    /** May do anything, on the caller's thread. */
    @FunctionalInterface
    public interface Watcher {
        /** @param call the method's name in {@link StorageIo}; @param path its last argument that is a path */
        void before(String call, Path path) throws Exception;
    }

    private WatchedStorage() {}

    public static StorageIo of(Watcher watcher) {
        return of(watcher, LocalStorage.INSTANCE);
    }

    private static StorageIo.Session of(Watcher watcher, StorageIo real) {
        return (StorageIo.Session) Proxy.newProxyInstance(StorageIo.class.getClassLoader(),
                new Class<?>[]{StorageIo.Session.class}, (_, method, arguments) -> {
                    if (method.getName().equals("session")) {
                        return of(watcher, real.session());
                    }
                    if (method.getName().equals("close")) {
                        ((StorageIo.Session) real).close();
                        return null;
                    }
                    Path path = null;
                    for (Object argument : arguments) {
                        path = argument instanceof Path one ? one : path;
                    }
                    watcher.before(method.getName(), path);
                    try {
                        return method.invoke(real, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
