// SPDX-License-Identifier: BSD-2-Clause
// A platform class with only the members that the bindings use, for compiling; it is never packaged.
package android.content.res;

public class AssetFileDescriptor {
  public java.io.FileDescriptor getFileDescriptor() {
    return null;
  }

  public long getStartOffset() {
    return 0;
  }

  public long getLength() {
    return 0;
  }

  public void close() throws java.io.IOException {}
}
