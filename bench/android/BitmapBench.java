// SPDX-License-Identifier: BSD-2-Clause
// A JMH benchmark: compares TensorImageUtils on a bitmap of 224 by 224 pixels with the arithmetic of
// pytorch_android_torchvision. pytorch_android_torchvision works in Java, pixel by pixel, with a division for each
// colour and an absolute put into the buffer for each float.

package dev.taper.bench;

import android.graphics.Bitmap;
import java.nio.FloatBuffer;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.pytorch.MemoryFormat;
import org.pytorch.Tensor;
import org.pytorch.torchvision.TensorImageUtils;

@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class BitmapBench {
  private static final int SIDE = 224, COUNT = SIDE * SIDE;
  private static final float[] MEAN = TensorImageUtils.TORCHVISION_NORM_MEAN_RGB;
  private static final float[] STD = TensorImageUtils.TORCHVISION_NORM_STD_RGB;

  /** A bitmap whose pixels take the same time to read in both libraries, because reading the pixels is only a copy. */
  private static final class Picture extends Bitmap {
    private final int[] colours = new Random(1).ints(COUNT).toArray();

    @Override
    public int getWidth() {
      return SIDE;
    }

    @Override
    public int getHeight() {
      return SIDE;
    }

    @Override
    public void getPixels(int[] pixels, int offset, int stride, int x, int y, int width, int height) {
      System.arraycopy(colours, 0, pixels, offset, COUNT);
    }
  }

  @Param({"CONTIGUOUS", "CHANNELS_LAST"})
  public MemoryFormat format;

  private final Bitmap bitmap = new Picture();
  private final FloatBuffer out = Tensor.allocateFloatBuffer(3 * COUNT);

  @Setup
  public void sameResults() {
    FloatBuffer other = Tensor.allocateFloatBuffer(3 * COUNT);
    convert(bitmap, other, format);
    ours();
    for (int i = 0; i < 3 * COUNT; i++) {
      if (other.get(i) != out.get(i)) {
        throw new AssertionError(i + ": " + other.get(i) + " " + out.get(i));
      }
    }
  }

  @Benchmark
  public FloatBuffer ours() {
    TensorImageUtils.bitmapToFloatBuffer(bitmap, 0, 0, SIDE, SIDE, MEAN, STD, out, 0, format);
    return out;
  }

  @Benchmark
  public FloatBuffer published() {
    convert(bitmap, out, format);
    return out;
  }

  private static void convert(Bitmap bitmap, FloatBuffer out, MemoryFormat format) {
    int[] pixels = new int[COUNT];
    bitmap.getPixels(pixels, 0, SIDE, 0, 0, SIDE, SIDE);
    boolean last = format == MemoryFormat.CHANNELS_LAST;
    for (int i = 0; i < COUNT; i++) {
      int colour = pixels[i];
      float red = ((colour >> 16) & 0xff) / 255.0f;
      float green = ((colour >> 8) & 0xff) / 255.0f;
      float blue = (colour & 0xff) / 255.0f;
      if (last) {
        out.put(3 * i, (red - MEAN[0]) / STD[0]);
        out.put(3 * i + 1, (green - MEAN[1]) / STD[1]);
        out.put(3 * i + 2, (blue - MEAN[2]) / STD[2]);
      } else {
        out.put(i, (red - MEAN[0]) / STD[0]);
        out.put(COUNT + i, (green - MEAN[1]) / STD[1]);
        out.put(2 * COUNT + i, (blue - MEAN[2]) / STD[2]);
      }
    }
  }
}
