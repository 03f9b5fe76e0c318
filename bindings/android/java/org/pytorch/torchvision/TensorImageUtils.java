// SPDX-License-Identifier: BSD-2-Clause
package org.pytorch.torchvision;

import android.graphics.Bitmap;
import android.graphics.ImageFormat;
import android.media.Image;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.Locale;
import org.pytorch.MemoryFormat;
import org.pytorch.NativeLibrary;
import org.pytorch.Tensor;

/**
 * Converts bitmaps and camera images to float tensors: each channel is (colour / 255 − mean) / std, with mean and std
 * for red, green and blue. The memory format is contiguous (the default) or channels-last.
 *
 * <p>A wrong argument throws {@link IllegalArgumentException}, a null argument {@link NullPointerException}, and an
 * output buffer that is too small {@link IllegalStateException}.
 */
public final class TensorImageUtils {

  public static float[] TORCHVISION_NORM_MEAN_RGB = new float[] {0.485f, 0.456f, 0.406f};
  public static float[] TORCHVISION_NORM_STD_RGB = new float[] {0.229f, 0.224f, 0.225f};

  /** Makes a 1×3×height×width tensor of a whole bitmap. */
  public static Tensor bitmapToFloat32Tensor(
      final Bitmap bitmap, final float[] normMeanRGB, final float normStdRGB[], final MemoryFormat memoryFormat) {
    checkNorm(normMeanRGB, normStdRGB);
    return bitmapToFloat32Tensor(
        bitmap, 0, 0, bitmap.getWidth(), bitmap.getHeight(), normMeanRGB, normStdRGB, memoryFormat);
  }

  /** Makes a contiguous 1×3×height×width tensor of a whole bitmap. */
  public static Tensor bitmapToFloat32Tensor(
      final Bitmap bitmap, final float[] normMeanRGB, final float normStdRGB[]) {
    return bitmapToFloat32Tensor(bitmap, normMeanRGB, normStdRGB, MemoryFormat.CONTIGUOUS);
  }

  /** Makes a 1×3×height×width tensor of an area of a bitmap, whose top left corner is at (x, y). */
  public static Tensor bitmapToFloat32Tensor(
      final Bitmap bitmap,
      int x,
      int y,
      int width,
      int height,
      float[] normMeanRGB,
      float[] normStdRGB,
      MemoryFormat memoryFormat) {
    checkNorm(normMeanRGB, normStdRGB);
    checkMemoryFormat(memoryFormat);
    checkTensorSize(width, height, "width and height must be positive");
    final FloatBuffer floatBuffer = Tensor.allocateFloatBuffer(floats(width, height));
    bitmapToFloatBuffer(bitmap, x, y, width, height, normMeanRGB, normStdRGB, floatBuffer, 0, memoryFormat);
    return Tensor.fromBlob(floatBuffer, new long[] {1, 3, height, width}, memoryFormat);
  }

  /** Makes a contiguous 1×3×height×width tensor of an area of a bitmap. */
  public static Tensor bitmapToFloat32Tensor(
      final Bitmap bitmap, int x, int y, int width, int height, float[] normMeanRGB, float[] normStdRGB) {
    return bitmapToFloat32Tensor(
        bitmap, x, y, width, height, normMeanRGB, normStdRGB, MemoryFormat.CONTIGUOUS);
  }

  /** Writes the tensor of an area of a bitmap to a buffer, from element outBufferOffset on. */
  public static void bitmapToFloatBuffer(
      final Bitmap bitmap,
      final int x,
      final int y,
      final int width,
      final int height,
      final float[] normMeanRGB,
      final float[] normStdRGB,
      final FloatBuffer outBuffer,
      final int outBufferOffset,
      final MemoryFormat memoryFormat) {
    checkOutBuffer(outBuffer, outBufferOffset, width, height);
    checkNorm(normMeanRGB, normStdRGB);
    checkMemoryFormat(memoryFormat);
    final int count = width * height;
    final int[] pixels = pixels(count);
    bitmap.getPixels(pixels, 0, width, x, y, width, height);
    final FloatBuffer direct = directOf(outBuffer, 3 * count);
    final int offset = direct == outBuffer ? outBufferOffset : 0;
    NativeLibrary.load();
    ImageFunctions.bitmap(
        pixels, count, normMeanRGB, normStdRGB, direct, offset, memoryFormat == MemoryFormat.CHANNELS_LAST);
    copyBack(direct, outBuffer, outBufferOffset);
  }

  /** Writes the contiguous tensor of an area of a bitmap to a buffer. */
  public static void bitmapToFloatBuffer(
      final Bitmap bitmap,
      final int x,
      final int y,
      final int width,
      final int height,
      final float[] normMeanRGB,
      final float[] normStdRGB,
      final FloatBuffer outBuffer,
      final int outBufferOffset) {
    bitmapToFloatBuffer(
        bitmap, x, y, width, height, normMeanRGB, normStdRGB, outBuffer, outBufferOffset, MemoryFormat.CONTIGUOUS);
  }

  /**
   * Makes a 1×3×tensorHeight×tensorWidth tensor of the centre of a camera image. The image is turned upright and
   * reduced by an integer factor, taking one pixel of each block.
   *
   * @param image of the format YUV_420_888
   * @param rotateCWDegrees clockwise rotation: 0, 90, 180 or 270
   */
  public static Tensor imageYUV420CenterCropToFloat32Tensor(
      final Image image,
      int rotateCWDegrees,
      final int tensorWidth,
      final int tensorHeight,
      float[] normMeanRGB,
      float[] normStdRGB,
      MemoryFormat memoryFormat) {
    checkFormat(image);
    checkNorm(normMeanRGB, normStdRGB);
    checkRotateCWDegrees(rotateCWDegrees);
    checkTensorSize(tensorWidth, tensorHeight, "tensorHeight and tensorWidth must be positive");
    checkMemoryFormat(memoryFormat);
    final FloatBuffer floatBuffer = Tensor.allocateFloatBuffer(floats(tensorWidth, tensorHeight));
    imageYUV420CenterCropToFloatBuffer(
        image, rotateCWDegrees, tensorWidth, tensorHeight, normMeanRGB, normStdRGB, floatBuffer, 0, memoryFormat);
    return Tensor.fromBlob(floatBuffer, new long[] {1, 3, tensorHeight, tensorWidth}, memoryFormat);
  }

  /** Makes a contiguous tensor of the centre of a camera image. */
  public static Tensor imageYUV420CenterCropToFloat32Tensor(
      final Image image,
      int rotateCWDegrees,
      final int tensorWidth,
      final int tensorHeight,
      float[] normMeanRGB,
      float[] normStdRGB) {
    return imageYUV420CenterCropToFloat32Tensor(
        image, rotateCWDegrees, tensorWidth, tensorHeight, normMeanRGB, normStdRGB, MemoryFormat.CONTIGUOUS);
  }

  /** Writes the tensor of the centre of a camera image to a buffer, from element outBufferOffset on. */
  public static void imageYUV420CenterCropToFloatBuffer(
      final Image image,
      int rotateCWDegrees,
      final int tensorWidth,
      final int tensorHeight,
      float[] normMeanRGB,
      float[] normStdRGB,
      final FloatBuffer outBuffer,
      final int outBufferOffset,
      final MemoryFormat memoryFormat) {
    checkOutBuffer(outBuffer, outBufferOffset, tensorWidth, tensorHeight);
    checkFormat(image);
    checkNorm(normMeanRGB, normStdRGB);
    checkRotateCWDegrees(rotateCWDegrees);
    checkTensorSize(tensorWidth, tensorHeight, "tensorHeight and tensorWidth must be positive");
    checkMemoryFormat(memoryFormat);
    final Image.Plane[] planes = image.getPlanes();
    final FloatBuffer direct = directOf(outBuffer, 3 * tensorWidth * tensorHeight);
    NativeLibrary.load();
    ImageFunctions.yuv420(
        directOf(planes[0].getBuffer()),
        planes[0].getRowStride(),
        planes[0].getPixelStride(),
        directOf(planes[1].getBuffer()),
        directOf(planes[2].getBuffer()),
        planes[1].getRowStride(),
        planes[1].getPixelStride(),
        image.getWidth(),
        image.getHeight(),
        rotateCWDegrees,
        tensorWidth,
        tensorHeight,
        normMeanRGB,
        normStdRGB,
        direct,
        direct == outBuffer ? outBufferOffset : 0,
        memoryFormat == MemoryFormat.CHANNELS_LAST);
    copyBack(direct, outBuffer, outBufferOffset);
  }

  /** Converts the centre of a camera image to a contiguous tensor, which is written to a buffer. */
  public static void imageYUV420CenterCropToFloatBuffer(
      final Image image,
      int rotateCWDegrees,
      final int tensorWidth,
      final int tensorHeight,
      float[] normMeanRGB,
      float[] normStdRGB,
      final FloatBuffer outBuffer,
      final int outBufferOffset) {
    imageYUV420CenterCropToFloatBuffer(
        image, rotateCWDegrees, tensorWidth, tensorHeight, normMeanRGB, normStdRGB, outBuffer, outBufferOffset,
        MemoryFormat.CONTIGUOUS);
  }

  // ---- buffers

  private static int[] pixels(int count) {
    try {
      return new int[count];
    } catch (OutOfMemoryError e) {
      throw new RuntimeException("Not enough memory for " + count + " pixels", e);
    }
  }

  /** Returns the buffer itself if it is direct, otherwise a new direct buffer for native code. */
  private static FloatBuffer directOf(FloatBuffer out, int floats) {
    return out.isDirect() && out.order() == ByteOrder.nativeOrder() ? out : Tensor.allocateFloatBuffer(floats);
  }

  private static void copyBack(FloatBuffer from, FloatBuffer to, int offset) {
    if (from != to) {
      final FloatBuffer place = to.duplicate();
      place.clear();
      place.position(offset);
      place.put(from);
    }
  }

  /** Returns the whole buffer of a plane, as a direct buffer. */
  private static ByteBuffer directOf(ByteBuffer plane) {
    if (plane.isDirect()) {
      return plane;
    }
    final ByteBuffer all = plane.duplicate();
    all.clear();
    final ByteBuffer direct = Tensor.allocateByteBuffer(all.capacity());
    direct.put(all);
    return direct;
  }

  // ---- checks

  /** Returns true if the number of floats of that many pixels fits into an int. Sizes are not negative. */
  private static boolean isCountable(int width, int height) {
    return (long) width * height <= Integer.MAX_VALUE / 3;
  }

  private static int floats(int width, int height) {
    if (!isCountable(width, height)) {
      throw new IllegalArgumentException("A tensor of " + width + " by " + height + " pixels is too large");
    }
    return 3 * width * height;
  }

  private static void checkOutBuffer(FloatBuffer outBuffer, int outBufferOffset, int width, int height) {
    if (outBufferOffset < 0) {
      throw new IllegalArgumentException("outBufferOffset must be non negative");
    }
    if (width < 0 || height < 0) {
      throw new IllegalArgumentException("width and height must be non negative");
    }
    if (!isCountable(width, height) || outBufferOffset + 3L * width * height > outBuffer.capacity()) {
      throw new IllegalStateException("Buffer underflow");
    }
    if (outBuffer.isReadOnly()) {
      throw new java.nio.ReadOnlyBufferException();
    }
  }

  private static void checkTensorSize(int width, int height, String message) {
    if (width <= 0 || height <= 0) {
      throw new IllegalArgumentException(message);
    }
  }

  private static void checkFormat(Image image) {
    if (image.getFormat() != ImageFormat.YUV_420_888) {
      throw new IllegalArgumentException(
          String.format(Locale.US, "Image format %d != ImageFormat.YUV_420_888", image.getFormat()));
    }
  }

  private static void checkRotateCWDegrees(int degrees) {
    if (degrees != 0 && degrees != 90 && degrees != 180 && degrees != 270) {
      throw new IllegalArgumentException("rotateCWDegrees must be one of 0, 90, 180, 270");
    }
  }

  private static void checkNorm(float[] mean, float[] std) {
    if (mean.length != 3) {
      throw new IllegalArgumentException("normMeanRGB length must be 3");
    }
    if (std.length != 3) {
      throw new IllegalArgumentException("normStdRGB length must be 3");
    }
  }

  private static void checkMemoryFormat(MemoryFormat memoryFormat) {
    if (memoryFormat != MemoryFormat.CONTIGUOUS && memoryFormat != MemoryFormat.CHANNELS_LAST) {
      throw new IllegalArgumentException("Unsupported memory format " + memoryFormat);
    }
  }
}
