// SPDX-License-Identifier: BSD-2-Clause
// Replaces the Android class, so that the tutorials' code runs on a desktop. The app's assets are in the folder
// -Dassets.
package android.content.res;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;

public final class AssetManager {
  public InputStream open(String name) throws IOException {
    return new FileInputStream(new File(System.getProperty("assets"), name));
  }

  public AssetFileDescriptor openFd(String name) throws IOException {
    throw new IOException(name + " is compressed");
  }
}
