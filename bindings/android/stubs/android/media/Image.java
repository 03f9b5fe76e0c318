// SPDX-License-Identifier: BSD-2-Clause
// A platform class with only the members that the bindings use, for compiling; it is never packaged.
package android.media;

public abstract class Image {
  public abstract int getFormat();

  public abstract int getWidth();

  public abstract int getHeight();

  public abstract Plane[] getPlanes();

  public abstract static class Plane {
    public abstract java.nio.ByteBuffer getBuffer();

    public abstract int getRowStride();

    public abstract int getPixelStride();
  }
}
