// SPDX-License-Identifier: BSD-2-Clause
package dev.taper.helloworld;

import android.app.Activity;
import android.graphics.Bitmap;
import android.graphics.BitmapFactory;
import android.os.Bundle;
import android.util.Log;
import android.widget.ImageView;
import android.widget.LinearLayout;
import android.widget.TextView;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import org.pytorch.IValue;
import org.pytorch.LiteModuleLoader;
import org.pytorch.Module;
import org.pytorch.Tensor;
import org.pytorch.torchvision.TensorImageUtils;

/** Classifies a picture with MobileNetV2 and shows the three most probable classes. */
public class MainActivity extends Activity {
  private static final String TAG = "HelloWorld";
  private static final int SIDE = 96;
  private static final int BEST = 3;

  @Override
  protected void onCreate(Bundle savedInstanceState) {
    super.onCreate(savedInstanceState);
    final ImageView image = new ImageView(this);
    final TextView text = new TextView(this);
    text.setTextSize(24);
    final LinearLayout rows = new LinearLayout(this);
    rows.setOrientation(LinearLayout.VERTICAL);
    rows.addView(image, LinearLayout.LayoutParams.MATCH_PARENT, LinearLayout.LayoutParams.WRAP_CONTENT);
    rows.addView(text);
    setContentView(rows);
    try {
      final InputStream stream = getAssets().open("image.jpg");
      final Bitmap bitmap = BitmapFactory.decodeStream(stream);
      stream.close();
      image.setImageBitmap(bitmap);
      final Module module = LiteModuleLoader.load(assetFilePath("classifier.ptl"));
      text.setText(classify(module, bitmap));
    } catch (IOException e) {
      Log.e(TAG, "Error reading assets", e);
      finish();
    }
  }

  /** Returns one line for each of the most probable classes. */
  static String classify(Module module, Bitmap bitmap) {
    final Bitmap scaled = Bitmap.createScaledBitmap(bitmap, SIDE, SIDE, true);
    final Tensor input =
        TensorImageUtils.bitmapToFloat32Tensor(
            scaled,
            TensorImageUtils.TORCHVISION_NORM_MEAN_RGB,
            TensorImageUtils.TORCHVISION_NORM_STD_RGB);
    final float[] scores = module.forward(IValue.from(input)).toTensor().getDataAsFloatArray();
    final StringBuilder lines = new StringBuilder();
    for (int place = 0; place < BEST; place++) {
      int best = 0;
      for (int i = 1; i < scores.length; i++) {
        if (scores[i] > scores[best]) {
          best = i;
        }
      }
      lines.append(Classes.NAMES[best]).append('\n');
      scores[best] = Float.NEGATIVE_INFINITY;
    }
    return lines.toString();
  }

  /** Returns the path of a file with the contents of an asset. */
  private String assetFilePath(String assetName) throws IOException {
    final File file = new File(getFilesDir(), assetName);
    final InputStream in = getAssets().open(assetName);
    try {
      final OutputStream out = new FileOutputStream(file);
      try {
        final byte[] buffer = new byte[4 * 1024];
        int read;
        while ((read = in.read(buffer)) != -1) {
          out.write(buffer, 0, read);
        }
      } finally {
        out.close();
      }
    } finally {
      in.close();
    }
    return file.getAbsolutePath();
  }
}
