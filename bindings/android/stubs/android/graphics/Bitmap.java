// SPDX-License-Identifier: BSD-2-Clause
// A platform class with only the members that the bindings use, for compiling; it is never packaged.
package android.graphics;

public class Bitmap {
  public int getWidth() {
    return 0;
  }

  public int getHeight() {
    return 0;
  }

  public void getPixels(int[] pixels, int offset, int stride, int x, int y, int width, int height) {}
}
