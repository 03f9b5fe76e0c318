// SPDX-License-Identifier: BSD-2-Clause
package org.pytorch.torchvision;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;

/**
 * The native part of {@link TensorImageUtils}, which loads the library and checks the arguments but for what images say of
 * themselves.
 */
final class ImageFunctions {
  private ImageFunctions() {}

  /** Colours of pixels (alpha is not looked at) to floats. */
  static native void bitmap(
      int[] pixels, int count, float[] mean, float[] std, FloatBuffer out, int offset, boolean channelsLast);

  /** @throws IllegalArgumentException where the planes are smaller than strides and sizes say. */
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
