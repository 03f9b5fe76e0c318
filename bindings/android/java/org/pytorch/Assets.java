// SPDX-License-Identifier: BSD-2-Clause
package org.pytorch;

import android.content.res.AssetFileDescriptor;
import android.content.res.AssetManager;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;

/** Opens models in an app's assets: uncompressed assets are mapped, compressed ones are read. */
final class Assets {
  private Assets() {}

  static long open(AssetManager manager, String name, Device device) {
    if (manager == null) {
      throw new NullPointerException("Asset manager must be not null");
    }
    if (name == null) {
      throw new NullPointerException("Asset name must be not null");
    }
    final String deviceName = NativePeer.nameOf(device);
    NativeLibrary.load();
    AssetFileDescriptor file = null;
    try {
      file = manager.openFd(name);
    } catch (IOException e) {
      // The asset is compressed or missing; opening the stream tells which.
    }
    if (file != null) {
      try {
        return NativeLibrary.loadDescriptor(
            file.getFileDescriptor(), file.getStartOffset(), file.getLength(), deviceName);
      } finally {
        close(file);
      }
    }
    return NativeLibrary.loadBuffer(read(manager, name), deviceName);
  }

  private static void close(AssetFileDescriptor file) {
    try {
      file.close();
    } catch (IOException e) {
      // The stream was only read, so an error of close() means no loss.
    }
  }

  private static ByteBuffer read(AssetManager manager, String name) {
    final InputStream in;
    try {
      in = manager.open(name);
    } catch (IOException e) {
      throw new IllegalArgumentException("Failed to open asset '" + name + "'", e);
    }
    try {
      try {
        ByteBuffer bytes = Tensor.allocateByteBuffer(Math.max(in.available(), 4096));
        final byte[] piece = new byte[65536];
        for (int n = in.read(piece); n >= 0; n = in.read(piece)) {
          if (n > bytes.remaining()) {
            final long size = Math.max(2L * bytes.capacity(), (long) bytes.position() + n);
            final ByteBuffer larger = Tensor.allocateByteBuffer((int) Math.min(size, Integer.MAX_VALUE));
            bytes.flip();
            larger.put(bytes);
            if (n > larger.remaining()) {
              throw new IllegalArgumentException("Asset '" + name + "' is larger than 2 GB");
            }
            bytes = larger;
          }
          bytes.put(piece, 0, n);
        }
        bytes.flip();
        return bytes.slice();
      } finally {
        in.close();
      }
    } catch (IOException e) {
      throw new IllegalArgumentException("Could not read asset '" + name + "'", e);
    }
  }
}
