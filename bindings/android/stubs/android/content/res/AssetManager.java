// SPDX-License-Identifier: BSD-2-Clause
// The members that the bindings use of a platform class. Only used for compiling, never packaged.
package android.content.res;

public final class AssetManager {
  public java.io.InputStream open(String name) throws java.io.IOException {
    throw new java.io.FileNotFoundException(name);
  }

  public AssetFileDescriptor openFd(String name) throws java.io.IOException {
    throw new java.io.FileNotFoundException(name);
  }
}
