// SPDX-License-Identifier: BSD-2-Clause
// What the bindings use of a class that the app's platform has: to compile against, never packaged.
package android.content.res;

public final class AssetManager {
  public java.io.InputStream open(String name) throws java.io.IOException {
    throw new java.io.FileNotFoundException(name);
  }

  public AssetFileDescriptor openFd(String name) throws java.io.IOException {
    throw new java.io.FileNotFoundException(name);
  }
}
