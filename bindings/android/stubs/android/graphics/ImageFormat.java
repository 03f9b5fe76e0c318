// SPDX-License-Identifier: BSD-2-Clause
// What the bindings use of a class that the app's platform has: to compile against, never packaged.
package android.graphics;

public class ImageFormat {
  public static final int YUV_420_888 = 35;
}
