// SPDX-License-Identifier: BSD-2-Clause
package org.pytorch.torchvision;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;

/**
 * The native part of {@link TensorImageUtils}, which loads the library and checks all arguments except the strides of
 * images.
 */
final class ImageFunctions {
  private ImageFunctions() {}

  /** Converts the colours of pixels to floats; alpha is ignored. */
  static native void bitmap(
      int[] pixels, int count, float[] mean, float[] std, FloatBuffer out, int offset, boolean channelsLast);

  /** @throws IllegalArgumentException if the planes are smaller than strides and sizes require */
  static native void yuv420(
      ByteBuffer y,
      int yRowStride,
      int yPixelStride,
      ByteBuffer u,
      ByteBuffer v,
      int uvRowStride,
      int uvPixelStride,
      int width,
      int height,
      int rotateCWDegrees,
      int tensorWidth,
      int tensorHeight,
      float[] mean,
      float[] std,
      FloatBuffer out,
      int offset,
      boolean channelsLast);
}
