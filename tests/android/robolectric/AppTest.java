// SPDX-License-Identifier: BSD-2-Clause
// Tests that need Android's own classes and run under Robolectric: assets, bitmaps, camera images, and the two example
// apps.

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertTrue;
import static org.junit.Assert.fail;

import android.app.Activity;
import android.content.res.AssetManager;
import android.graphics.Bitmap;
import android.graphics.BitmapFactory;
import android.graphics.ImageFormat;
import android.graphics.drawable.BitmapDrawable;
import android.media.Image;
import android.os.Looper;
import android.view.ViewGroup;
import android.widget.ImageView;
import android.widget.TextView;
import java.nio.ByteBuffer;
import java.util.Random;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.pytorch.IValue;
import org.pytorch.LitePyTorchAndroid;
import org.pytorch.Module;
import org.pytorch.PyTorchAndroid;
import org.pytorch.Tensor;
import org.pytorch.torchvision.TensorImageUtils;
import org.robolectric.Robolectric;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.RuntimeEnvironment;
import org.robolectric.Shadows;
import org.robolectric.annotation.Config;
import org.robolectric.annotation.ConscryptMode;
import org.robolectric.annotation.GraphicsMode;

@RunWith(RobolectricTestRunner.class)
@Config(sdk = 34)
@ConscryptMode(ConscryptMode.Mode.OFF)
@GraphicsMode(GraphicsMode.Mode.NATIVE)
public class AppTest {
  private static final float[] MEAN = TensorImageUtils.TORCHVISION_NORM_MEAN_RGB;
  private static final float[] STD = TensorImageUtils.TORCHVISION_NORM_STD_RGB;

  private static AssetManager assets() {
    return RuntimeEnvironment.getApplication().getAssets();
  }

  private static float[] scores(Module module) {
    float[] zeros = new float[3 * 96 * 96];
    return module.forward(IValue.from(Tensor.fromBlob(zeros, new long[] {1, 3, 96, 96}))).toTensor().getDataAsFloatArray();
  }

  @Test
  public void assetsAreLoadedAsFilesAre() {
    float[] expected = scores(Module.load(System.getProperty("model")));
    assertEquals(20, expected.length);
    assertArrayEquals(expected, scores(PyTorchAndroid.loadModuleFromAsset(assets(), "classifier.ptl")), 0);
    assertArrayEquals(expected, scores(LitePyTorchAndroid.loadModuleFromAsset(assets(), "classifier.ptl")), 0);
    assertArrayEquals(expected, scores(Module.loadFrom(assets(), "classifier.ptl")), 0);
    Module.loadFrom(assets(), "segmenter.ptl").destroy(); // the package stores this asset compressed
  }

  @Test
  public void missingAndDamagedAssetsAreExceptions() {
    for (String name : new String[] {"nothing.ptl", "image.jpg", ""}) {
      try {
        PyTorchAndroid.loadModuleFromAsset(assets(), name);
        fail(name);
      } catch (RuntimeException e) {
        assertNotNull(e.getMessage());
      }
    }
    try {
      PyTorchAndroid.loadModuleFromAsset(assets(), null);
      fail("null");
    } catch (NullPointerException e) {
      assertNotNull(e.getMessage());
    }
  }

  @Test
  public void bitmapsArePixels() {
    for (Bitmap.Config config : new Bitmap.Config[] {Bitmap.Config.ARGB_8888, Bitmap.Config.RGB_565}) {
      Bitmap bitmap = Bitmap.createBitmap(37, 23, config);
      Random random = new Random(1);
      for (int y = 0; y < 23; y++) {
        for (int x = 0; x < 37; x++) {
          bitmap.setPixel(x, y, 0xff000000 | random.nextInt(1 << 24));
        }
      }
      float[] tensor = TensorImageUtils.bitmapToFloat32Tensor(bitmap, 3, 5, 20, 11, MEAN, STD).getDataAsFloatArray();
      for (int c = 0; c < 3; c++) {
        for (int i = 0; i < 20 * 11; i++) {
          int colour = bitmap.getPixel(3 + i % 20, 5 + i / 20) >> (16 - 8 * c) & 0xff;
          assertEquals((colour / 255.0f - MEAN[c]) / STD[c], tensor[c * 220 + i], 0);
        }
      }
    }
  }

  @Test
  public void cameraImagesAreConverted() {
    final int width = 64, height = 48;
    final ByteBuffer y = noise(width * height), u = noise(width * height / 4), v = noise(width * height / 4);
    Image image =
        new Image() {
          @Override
          public int getFormat() {
            return ImageFormat.YUV_420_888;
          }

          @Override
          public int getWidth() {
            return width;
          }

          @Override
          public int getHeight() {
            return height;
          }

          public long getTimestamp() {
            return 0;
          }

          public int getTransform() {
            return 0;
          }

          public int getScalingMode() {
            return 0;
          }

          public android.hardware.HardwareBuffer getHardwareBuffer() {
            return null;
          }

          @Override
          public Plane[] getPlanes() {
            return new Plane[] {plane(y, width), plane(u, width / 2), plane(v, width / 2)};
          }

          public void close() {}
        };
    Tensor tensor = TensorImageUtils.imageYUV420CenterCropToFloat32Tensor(image, 0, 48, 48, new float[3], new float[] {1, 1, 1});
    float[] got = tensor.getDataAsFloatArray();
    int row = 17, column = 5, x = column + (width - 48) / 2;
    int luma = Math.max(0, (y.get(row * width + x) & 0xff) - 16);
    int cr = (v.get(row / 2 * width / 2 + x / 2) & 0xff) - 128;
    int red = Math.max(0, Math.min(255, (1192 * luma + 1634 * cr) >> 10));
    assertEquals(red / 255f, got[row * 48 + column], 1e-6f);
  }

  private static ByteBuffer noise(int size) {
    byte[] bytes = new byte[size];
    new Random(size).nextBytes(bytes);
    ByteBuffer buffer = ByteBuffer.allocateDirect(size);
    buffer.put(bytes).rewind();
    return buffer;
  }

  private static Image.Plane plane(final ByteBuffer buffer, final int stride) {
    return new Image.Plane() {
      @Override
      public int getRowStride() {
        return stride;
      }

      @Override
      public int getPixelStride() {
        return 1;
      }

      @Override
      public ByteBuffer getBuffer() {
        return buffer;
      }
    };
  }

  private static <T> T find(ViewGroup group, Class<T> type) {
    for (int i = 0; i < group.getChildCount(); i++) {
      if (type.isInstance(group.getChildAt(i))) {
        return type.cast(group.getChildAt(i));
      }
      if (group.getChildAt(i) instanceof ViewGroup) {
        T found = find((ViewGroup) group.getChildAt(i), type);
        if (found != null) {
          return found;
        }
      }
    }
    return null;
  }

  @SuppressWarnings("unchecked")
  private static Activity start(String name) throws ClassNotFoundException {
    return Robolectric.buildActivity((Class<Activity>) Class.forName(name)).setup().get();
  }

  private static ViewGroup content(Activity activity) {
    return (ViewGroup) activity.findViewById(android.R.id.content);
  }

  @Test
  public void helloWorldSaysWhatThePictureShows() throws Exception {
    TextView text = find(content(start("dev.taper.helloworld.MainActivity")), TextView.class);
    String[] best = text.getText().toString().split("\n");
    assertEquals(3, best.length);
    assertEquals("pizza", best[0]);
  }

  @Test
  public void imageSegmentationPaints() throws Exception {
    Activity activity;
    try {
      activity = start("dev.taper.imagesegmentation.MainActivity");
    } catch (ClassNotFoundException e) {
      System.out.println("left out: no Kotlin compiler, so no ImageSegmentation");
      return;
    }
    ImageView image = find(content(activity), ImageView.class);
    Bitmap before = ((BitmapDrawable) image.getDrawable()).getBitmap();
    android.widget.Button button = find(content(activity), android.widget.Button.class);
    button.performClick();
    for (int i = 0; i < 600 && !button.isEnabled(); i++) {
      Thread.sleep(100);
      Shadows.shadowOf(Looper.getMainLooper()).idle();
    }
    assertTrue(button.isEnabled());
    Bitmap after = ((BitmapDrawable) image.getDrawable()).getBitmap();
    assertEquals(before.getWidth(), after.getWidth());
    java.util.Set<Integer> colours = new java.util.HashSet<>();
    for (int y = 0; y < after.getHeight(); y++) {
      for (int x = 0; x < after.getWidth(); x++) {
        colours.add(after.getPixel(x, y));
      }
    }
    assertTrue("black: background", colours.contains(0xff000000));
    assertTrue("something beside the background", colours.size() > 1);
  }
}
