// SPDX-License-Identifier: BSD-2-Clause
// A platform class with only the members that the bindings use, for compiling; it is never packaged.
package android.graphics;

public class ImageFormat {
  public static final int YUV_420_888 = 35;
}
