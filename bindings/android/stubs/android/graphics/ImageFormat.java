// SPDX-License-Identifier: BSD-2-Clause
// The members that the bindings use of a platform class. Only used for compiling, never packaged.
package android.graphics;

public class ImageFormat {
  public static final int YUV_420_888 = 35;
}
