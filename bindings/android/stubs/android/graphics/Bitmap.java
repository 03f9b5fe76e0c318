// SPDX-License-Identifier: BSD-2-Clause
// The members that the bindings use of a platform class. Only used for compiling, never packaged.
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
