package org.udckpt.image.write;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import org.udckpt.image.ImageNames;
import org.udckpt.image.Manifest;
import org.udckpt.image.key.BlockSealer;
import org.udckpt.image.key.BlockTags;
import org.udckpt.image.key.ImageCipher;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.storage.SmallFiles;
import org.udckpt.image.storage.StorageIo;
import org.udckpt.image.table.RecordTable;

/**
 * Where one checkpoint's files go, and in which form its tables do.
 *
 * @param storage with the directory held open
 * @param cipher null when it is not encrypted
 * @param tags   of blocks; null unless integrity is GMAC, and in an encrypted checkpoint
 */
record WriteTarget(Path directory, long id, StorageIo.Session storage, ImageCipher cipher, BlockTags tags) {
    /** What seals blocks, for one thread; null where nothing does. */
    BlockSealer sealer() {
        return cipher != null ? cipher.worker() : tags != null ? tags.worker() : null;
    }

    /** Writes a table and makes its content durable. */
    <T> Manifest.FileEntry table(String file, Class<T> type, List<? extends T> rows) throws IOException {
        return table(file, RecordTable.of(type).encode(rows));
    }

    Manifest.FileEntry table(String file, byte[] plain) throws IOException {
        byte[] content = cipher == null ? plain : cipher.sealTable(plain);
        SmallFiles.write(storage, directory.resolve(tableName(file)), content);
        return Manifest.FileEntry.table(tableName(file), content.length,
                HexFormat.of().formatHex(ImageKey.sha256(content)));
    }

    /** What the file of a table is called in this checkpoint. */
    String tableName(String file) {
        return cipher == null ? file : ImageNames.encrypted(file);
    }
}
