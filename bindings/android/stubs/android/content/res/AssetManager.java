// SPDX-License-Identifier: BSD-2-Clause
// A platform class with only the members that the bindings use, for compiling; it is never packaged.
package android.content.res;

public final class AssetManager {
  public java.io.InputStream open(String name) throws java.io.IOException {
    throw new java.io.FileNotFoundException(name);
  }

  public AssetFileDescriptor openFd(String name) throws java.io.IOException {
    throw new java.io.FileNotFoundException(name);
  }
}
