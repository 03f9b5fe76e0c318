// SPDX-License-Identifier: BSD-2-Clause
// The samples: models with their inputs and PyTorch's results, in NumPy's files.

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.pytorch.Tensor;

final class Files {
  /** Returns a path in the folder -Dsamples. */
  static String sample(String name) {
    return new File(System.getProperty("samples"), name).getPath();
  }

  /** Returns a path in the folder -Dmodels, whose models scripts/oracle/make_android_models.py writes. */
  static String model(String name) {
    return new File(System.getProperty("models"), name).getPath();
  }

  static byte[] bytes(String path) {
    try {
      return java.nio.file.Files.readAllBytes(new File(path).toPath());
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  static String write(String name, byte[] bytes) {
    try {
      File file = File.createTempFile("taper", name);
      file.deleteOnExit();
      java.nio.file.Files.write(file.toPath(), bytes);
      return file.getPath();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  static Tensor npy(String name) {
    ByteBuffer all = ByteBuffer.wrap(bytes(sample(name))).order(ByteOrder.LITTLE_ENDIAN);
    int header = all.getShort(8);
    String text = new String(all.array(), 10, header, StandardCharsets.US_ASCII);
    Matcher type = Pattern.compile("'descr': '([^']*)'").matcher(text);
    Matcher shape = Pattern.compile("'shape': \\(([^)]*)\\)").matcher(text);
    Check.that(type.find() && shape.find() && text.contains("'fortran_order': False"), text);
    String[] parts = shape.group(1).replace(" ", "").split(",");
    long[] sizes = parts[0].isEmpty() ? new long[0] : new long[parts.length];
    for (int i = 0; i < sizes.length; i++) {
      sizes[i] = Long.parseLong(parts[i]);
    }
    all.position(10 + header);
    ByteBuffer data = all.slice().order(ByteOrder.LITTLE_ENDIAN);
    int n = (int) Tensor.numel(sizes);
    if (type.group(1).equals("<f4")) {
      float[] floats = new float[n];
      data.asFloatBuffer().get(floats);
      return Tensor.fromBlob(floats, sizes);
    }
    Check.that(type.group(1).equals("<i8"), text);
    long[] longs = new long[n];
    data.asLongBuffer().get(longs);
    return Tensor.fromBlob(longs, sizes);
  }

  static void close(Tensor expected, Tensor actual) {
    Check.same(expected.shape(), actual.shape());
    float[] a = expected.getDataAsFloatArray(), b = actual.getDataAsFloatArray();
    for (int i = 0; i < a.length; i++) {
      Check.that(Math.abs(a[i] - b[i]) <= 1e-5f * Math.max(1, Math.abs(a[i])), i + ": " + a[i] + " " + b[i]);
    }
  }

  private Files() {}
}
