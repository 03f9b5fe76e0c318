// SPDX-License-Identifier: BSD-2-Clause
// Stands in for the platform's class to run the tutorials' code on a desktop: the app's assets are in -Dassets.
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
