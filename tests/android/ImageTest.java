// SPDX-License-Identifier: BSD-2-Clause
// TensorImageUtils must compute the same bits as the pixel-by-pixel arithmetic of PyTorch Mobile, and refuse invalid
// arguments.

import android.graphics.Bitmap;
import android.media.Image;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.Random;
import org.pytorch.MemoryFormat;
import org.pytorch.Tensor;
import org.pytorch.torchvision.TensorImageUtils;

final class ImageTest {
  private static final float[] MEAN = TensorImageUtils.TORCHVISION_NORM_MEAN_RGB;
  private static final float[] STD = TensorImageUtils.TORCHVISION_NORM_STD_RGB;
  private static final MemoryFormat[] FORMATS = {MemoryFormat.CONTIGUOUS, MemoryFormat.CHANNELS_LAST};

  private static final class Picture extends Bitmap {
    final int width, height;
    final int[] colours;

    Picture(int width, int height) {
      this.width = width;
      this.height = height;
      colours = new Random(width).ints((long) width * height).toArray();
    }

    @Override
    public int getWidth() {
      return width;
    }

    @Override
    public int getHeight() {
      return height;
    }

    @Override
    public void getPixels(int[] pixels, int offset, int stride, int x, int y, int w, int h) {
      if (x < 0 || y < 0 || x + w > width || y + h > height) {
        throw new IllegalArgumentException("outside");
      }
      for (int i = 0; i < h; i++) {
        System.arraycopy(colours, (y + i) * width + x, pixels, offset + i * stride, w);
      }
    }
  }

  private static void same(float[] expected, FloatBuffer actual, int offset) {
    for (int i = 0; i < expected.length; i++) {
      Check.that(
          Float.floatToRawIntBits(expected[i]) == Float.floatToRawIntBits(actual.get(offset + i)),
          i + ": " + expected[i] + " " + actual.get(offset + i));
    }
  }

  private static FloatBuffer floats(Tensor t) {
    return t.memoryFormat() == null ? null : FloatBuffer.wrap(t.getDataAsFloatArray());
  }

  private static float[] expected(Picture p, int x, int y, int w, int h, float[] mean, float[] std, boolean last) {
    float[] out = new float[3 * w * h];
    for (int i = 0; i < w * h; i++) {
      int colour = p.colours[(y + i / w) * p.width + x + i % w];
      for (int c = 0; c < 3; c++) {
        float value = (colour >> (16 - 8 * c) & 0xff) / 255.0f;
        out[last ? 3 * i + c : c * w * h + i] = (value - mean[c]) / std[c];
      }
    }
    return out;
  }

  static void bitmaps() {
    for (int[] size : new int[][] {{1, 1}, {5, 7}, {64, 33}, {224, 224}}) {
      Picture p = new Picture(size[0], size[1]);
      for (MemoryFormat format : FORMATS) {
        boolean last = format == MemoryFormat.CHANNELS_LAST;
        Tensor t = TensorImageUtils.bitmapToFloat32Tensor(p, MEAN, STD, format);
        Check.same(new long[] {1, 3, size[1], size[0]}, t.shape());
        Check.same(format, t.memoryFormat());
        same(expected(p, 0, 0, size[0], size[1], MEAN, STD, last), floats(t), 0);
        int w = (size[0] + 1) / 2, h = (size[1] + 1) / 2, x = size[0] - w, y = size[1] - h;
        t = TensorImageUtils.bitmapToFloat32Tensor(p, x, y, w, h, new float[3], STD, format);
        same(expected(p, x, y, w, h, new float[3], STD, last), floats(t), 0);
        // The output must be correct in every kind of buffer, also in buffers whose position is not 0.
        FloatBuffer[] outs = {
          Tensor.allocateFloatBuffer(3 * w * h + 5),
          FloatBuffer.allocate(3 * w * h + 5),
          ByteBuffer.allocateDirect(12 * w * h + 20).order(ByteOrder.BIG_ENDIAN).asFloatBuffer()
        };
        for (FloatBuffer out : outs) {
          out.position(1);
          TensorImageUtils.bitmapToFloatBuffer(p, x, y, w, h, MEAN, STD, out, 5, format);
          same(expected(p, x, y, w, h, MEAN, STD, last), out, 5);
          Check.same(0f, out.get(4));
          Check.same(1, out.position());
        }
      }
      same(
          expected(p, 0, 0, size[0], size[1], MEAN, STD, false),
          floats(TensorImageUtils.bitmapToFloat32Tensor(p, MEAN, STD)),
          0);
    }
  }

  private static final class CameraPlane extends Image.Plane {
    final ByteBuffer buffer;
    final int row, pixel;

    CameraPlane(int width, int height, int row, int pixel, boolean direct) {
      this.row = row;
      this.pixel = pixel;
      // Cameras omit the padding after the last row.
      byte[] bytes = new byte[(height - 1) * row + (width - 1) * pixel + 1];
      new Random(row).nextBytes(bytes);
      buffer = direct ? ByteBuffer.allocateDirect(bytes.length) : ByteBuffer.allocate(bytes.length);
      buffer.put(bytes);
      buffer.clear();
    }

    int at(int x, int y) {
      return buffer.get(y * row + x * pixel) & 0xff;
    }

    @Override
    public ByteBuffer getBuffer() {
      return buffer;
    }

    @Override
    public int getRowStride() {
      return row;
    }

    @Override
    public int getPixelStride() {
      return pixel;
    }
  }

  private static final class Camera extends Image {
    int width, height;
    int format = 35;
    final CameraPlane[] planes;

    Camera(int width, int height, int pad, int yPixel, int uvPixel, boolean direct) {
      this.width = width;
      this.height = height;
      int w = (width + 1) / 2, h = (height + 1) / 2;
      planes =
          new CameraPlane[] {
            new CameraPlane(width, height, width * yPixel + pad, yPixel, direct),
            new CameraPlane(w, h, w * uvPixel + pad, uvPixel, direct),
            new CameraPlane(w, h, w * uvPixel + pad, uvPixel, direct)
          };
    }

    @Override
    public int getFormat() {
      return format;
    }

    @Override
    public int getWidth() {
      return width;
    }

    @Override
    public int getHeight() {
      return height;
    }

    @Override
    public Plane[] getPlanes() {
      return planes;
    }
  }

  /** PyTorch Mobile's published arithmetic: the scale is an integer, and a rotation only mirrors the axes. */
  private static float[] expected(Camera image, int degrees, int tw, int th, float[] mean, float[] std, boolean last) {
    boolean odd = degrees % 180 != 0;
    int w = odd ? image.height : image.width, h = odd ? image.width : image.height;
    int cw = w, ch = h;
    if (tw * h <= th * w) {
      cw = tw * h / th;
    } else {
      ch = th * w / tw;
    }
    int scale = cw / tw;
    int bw = odd ? ch : cw, bh = odd ? cw : ch;
    int left = (image.width - bw) / 2, top = (image.height - bh) / 2;
    float[] out = new float[3 * tw * th];
    for (int y = 0; y < th; y++) {
      for (int x = 0; x < tw; x++) {
        int ix = degrees >= 180 ? left + bw - 1 - x * scale : left + x * scale;
        int iy = degrees == 90 || degrees == 180 ? top + bh - 1 - y * scale : top + y * scale;
        // PyTorch Mobile read out of bounds for pixels beyond the image.
        ix = Math.min(Math.max(ix, 0), image.width - 1);
        iy = Math.min(Math.max(iy, 0), image.height - 1);
        int luma = 1192 * Math.max(0, image.planes[0].at(ix, iy) - 16);
        int u = image.planes[1].at(ix >> 1, iy >> 1) - 128, v = image.planes[2].at(ix >> 1, iy >> 1) - 128;
        int[] rgb = {(luma + 1634 * v) >> 10, (luma - 833 * v - 400 * u) >> 10, (luma + 2066 * u) >> 10};
        for (int c = 0; c < 3; c++) {
          int colour = Math.min(Math.max(rgb[c], 0), 255);
          out[last ? 3 * (y * tw + x) + c : c * tw * th + y * tw + x] = (colour - 255 * mean[c]) / (255 * std[c]);
        }
      }
    }
    return out;
  }

  static void cameras() {
    int[][] sizes = {{640, 480}, {176, 144}, {101, 67}, {64, 200}, {2, 2}};
    int[][] tensors = {{224, 224}, {32, 32}, {50, 30}, {30, 50}, {1, 1}};
    for (int[] size : sizes) {
      for (int k = 0; k < 4; k++) {
        Camera image = new Camera(size[0], size[1], 5 * k, k == 3 ? 2 : 1, 1 + k % 2, k != 2);
        for (int[] t : tensors) {
          if (t[0] > 100 && (size[0] < 600 || k != 1)) {
            continue; // the case is skipped, because it takes too long
          }
          for (int degrees = 0; degrees < 360; degrees += 90) {
            for (MemoryFormat format : FORMATS) {
              float[] expected =
                  expected(image, degrees, t[0], t[1], MEAN, STD, format == MemoryFormat.CHANNELS_LAST);
              Tensor out =
                  TensorImageUtils.imageYUV420CenterCropToFloat32Tensor(image, degrees, t[0], t[1], MEAN, STD, format);
              Check.same(new long[] {1, 3, t[1], t[0]}, out.shape());
              Check.same(format, out.memoryFormat());
              same(expected, floats(out), 0);
              FloatBuffer buffer =
                  k % 2 == 0 ? Tensor.allocateFloatBuffer(expected.length + 3) : FloatBuffer.allocate(expected.length + 3);
              TensorImageUtils.imageYUV420CenterCropToFloatBuffer(
                  image, degrees, t[0], t[1], MEAN, STD, buffer, 3, format);
              same(expected, buffer, 3);
            }
          }
        }
      }
    }
  }

  static void wrongArguments() throws Exception {
    Class<?> wrong = IllegalArgumentException.class, none = NullPointerException.class;
    Picture p = new Picture(8, 8);
    float[] two = new float[2];
    FloatBuffer out = Tensor.allocateFloatBuffer(192);
    Check.fails(none, () -> TensorImageUtils.bitmapToFloat32Tensor(null, MEAN, STD));
    Check.fails(none, () -> TensorImageUtils.bitmapToFloat32Tensor(p, null, STD));
    Check.fails(none, () -> TensorImageUtils.bitmapToFloat32Tensor(p, MEAN, null));
    Check.fails(wrong, () -> TensorImageUtils.bitmapToFloat32Tensor(p, two, STD), "normMeanRGB length must be 3");
    Check.fails(wrong, () -> TensorImageUtils.bitmapToFloat32Tensor(p, MEAN, two), "normStdRGB length must be 3");
    Check.fails(wrong, () -> TensorImageUtils.bitmapToFloat32Tensor(p, MEAN, STD, null));
    Check.fails(wrong, () -> TensorImageUtils.bitmapToFloat32Tensor(p, MEAN, STD, MemoryFormat.CHANNELS_LAST_3D));
    Check.fails(wrong, () -> TensorImageUtils.bitmapToFloat32Tensor(p, 1, 0, 8, 8, MEAN, STD));
    Check.fails(wrong, () -> TensorImageUtils.bitmapToFloat32Tensor(p, 0, 0, -1, 8, MEAN, STD));
    Check.fails(wrong, () -> TensorImageUtils.bitmapToFloat32Tensor(p, 0, 0, 65536, 65536, MEAN, STD));
    Check.fails(none, () -> TensorImageUtils.bitmapToFloatBuffer(p, 0, 0, 8, 8, MEAN, STD, null, 0));
    Check.fails(
        IllegalStateException.class,
        () -> TensorImageUtils.bitmapToFloatBuffer(p, 0, 0, 8, 8, MEAN, STD, out, 1),
        "Buffer underflow");
    Check.fails(wrong, () -> TensorImageUtils.bitmapToFloatBuffer(p, 0, 0, 8, 8, MEAN, STD, out, -1));
    Check.fails(
        IllegalStateException.class,
        () -> TensorImageUtils.bitmapToFloatBuffer(p, 0, 0, 65536, 65536, MEAN, STD, out, 0));
    Check.fails(
        java.nio.ReadOnlyBufferException.class,
        () -> TensorImageUtils.bitmapToFloatBuffer(p, 0, 0, 8, 8, MEAN, STD, out.asReadOnlyBuffer(), 0));

    Camera c = new Camera(16, 16, 0, 1, 1, true);
    Check.fails(none, () -> TensorImageUtils.imageYUV420CenterCropToFloat32Tensor(null, 0, 8, 8, MEAN, STD));
    Check.fails(none, () -> TensorImageUtils.imageYUV420CenterCropToFloat32Tensor(c, 0, 8, 8, null, STD));
    Check.fails(wrong, () -> TensorImageUtils.imageYUV420CenterCropToFloat32Tensor(c, 0, 8, 8, MEAN, two));
    Check.fails(
        wrong,
        () -> TensorImageUtils.imageYUV420CenterCropToFloat32Tensor(c, 45, 8, 8, MEAN, STD),
        "rotateCWDegrees must be one of 0, 90, 180, 270");
    Check.fails(
        wrong,
        () -> TensorImageUtils.imageYUV420CenterCropToFloat32Tensor(c, 0, 0, 8, MEAN, STD),
        "tensorHeight and tensorWidth must be positive");
    Check.fails(
        IllegalStateException.class,
        () -> TensorImageUtils.imageYUV420CenterCropToFloatBuffer(c, 0, 8, 8, MEAN, STD, out, 1));
    Check.fails(none, () -> TensorImageUtils.imageYUV420CenterCropToFloatBuffer(c, 0, 8, 8, MEAN, STD, null, 0));
    // For these side lengths, three times the number of pixels overflows 64 bits and becomes a small or a negative
    // number.
    for (int side : new int[] {Integer.MAX_VALUE, 1753413057, 2000000000}) {
      Check.fails(wrong, () -> TensorImageUtils.imageYUV420CenterCropToFloat32Tensor(c, 0, side, side, MEAN, STD));
      Check.fails(
          IllegalStateException.class,
          () -> TensorImageUtils.imageYUV420CenterCropToFloatBuffer(c, 90, side, side, MEAN, STD, out, 0));
      Check.fails(wrong, () -> TensorImageUtils.bitmapToFloat32Tensor(p, 0, 0, side, side, MEAN, STD));
      Check.fails(
          IllegalStateException.class,
          () -> TensorImageUtils.bitmapToFloatBuffer(p, 0, 0, side, side, MEAN, STD, out, 0));
    }
    Camera other = new Camera(16, 16, 0, 1, 1, true);
    other.format = 256;
    Check.fails(
        wrong,
        () -> TensorImageUtils.imageYUV420CenterCropToFloat32Tensor(other, 0, 8, 8, MEAN, STD),
        "Image format 256 != ImageFormat.YUV_420_888");
    other.format = 35;
    other.height = 17; // more rows than the planes contain
    Check.fails(wrong, () -> TensorImageUtils.imageYUV420CenterCropToFloat32Tensor(other, 0, 8, 8, MEAN, STD));
    other.height = Integer.MAX_VALUE;
    other.width = Integer.MAX_VALUE;
    Check.fails(wrong, () -> TensorImageUtils.imageYUV420CenterCropToFloat32Tensor(other, 0, 8, 8, MEAN, STD));
    other.width = 0;
    Check.fails(wrong, () -> TensorImageUtils.imageYUV420CenterCropToFloat32Tensor(other, 0, 8, 8, MEAN, STD));
  }

  private ImageTest() {}
}
