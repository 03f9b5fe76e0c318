// SPDX-License-Identifier: BSD-2-Clause
// Tests behaviour of PyTorch Mobile that apps rely on: classes and texts of exceptions, and ownership of memory.

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.HashMap;
import java.util.Map;
import org.pytorch.DType;
import org.pytorch.Device;
import org.pytorch.IValue;
import org.pytorch.LiteModuleLoader;
import org.pytorch.MemoryFormat;
import org.pytorch.Module;
import org.pytorch.ScalarType;
import org.pytorch.PyTorchAndroid;
import org.pytorch.Tensor;

final class BehaviourTest {
  /** The class of the exceptions that loading and running throw. */
  static final Class<?> MODEL_ERROR = modelError();

  private static Class<?> modelError() {
    try {
      return Class.forName("com.facebook.jni.CppException");
    } catch (ClassNotFoundException e) {
      return org.pytorch.TaperException.class;
    }
  }

  private static final String KINDS = Files.model("kinds.ptl");
  private static final long[] SIX = {2, 3};

  private static Tensor six() {
    return Tensor.fromBlob(new float[] {-1, 0, 1, 2, 3, 4}, SIX);
  }

  static void missingFile() throws Exception {
    for (String path : new String[] {"/no/such/model.ptl", "relative.pt"}) {
      String text = "open file failed because of errno 2 on fopen: , file path: " + path;
      Check.fails(MODEL_ERROR, () -> Module.load(path), text);
      Check.fails(MODEL_ERROR, () -> LiteModuleLoader.load(path), text);
    }
  }

  static void noZip() throws Exception {
    String text = "PytorchStreamReader failed reading zip archive: failed finding central directory";
    byte[] model = Files.bytes(KINDS);
    String[] paths = {
      Files.write(".ptl", "no model".getBytes("UTF-8")),
      Files.write(".pt", new byte[0]),
      Files.write(".ptl", java.util.Arrays.copyOf(model, model.length / 2))
    };
    for (String path : paths) {
      Check.fails(MODEL_ERROR, () -> Module.load(path), text);
      Check.fails(MODEL_ERROR, () -> LiteModuleLoader.load(path), text);
    }
  }

  static void torchScriptInTheLiteLoader() {
    // PyTorch Mobile's LiteModuleLoader refused this file. Taper has only one runtime, which accepts a .pt file.
    try (Module m = LiteModuleLoader.load(Files.model("kinds.pt"))) {
      Check.same(
          new float[] {-2, 0, 2, 4, 6, 8}, m.forward(IValue.from(six())).toTensor().getDataAsFloatArray());
    }
  }

  static void modelRaises() throws Exception {
    for (String file : new String[] {"kinds.pt", "kinds.ptl"}) {
      try (Module m = Module.load(Files.model(file))) {
        Check.fails(
            RuntimeException.class, () -> m.runMethod("fail", IValue.from("no dög \ud83d\udc36")), "no dög \ud83d\udc36");
        // The module can still be used after the exception.
        Check.same(DType.FLOAT32, m.forward(IValue.from(six())).toTensor().dtype());
      }
    }
  }

  static void advice() throws Exception {
    try (Module m = Module.load(Files.sample("s01_convnet.ptl"))) {
      double[] image = new double[3 * 12 * 12];
      Check.fails(
          MODEL_ERROR,
          () -> m.forward(IValue.from(Tensor.fromBlob(image, new long[] {1, 3, 12, 12}))),
          "input 0 is float64 [1, 3, 12, 12]; the model takes it converted: float32 [1, 3, 12, 12]");
    }
  }

  static void missingArgument() throws Exception {
    try (Module m = Module.load(KINDS)) {
      Check.fails(MODEL_ERROR, () -> m.forward());
      Check.fails(MODEL_ERROR, () -> m.runMethod("scalar", IValue.from(true)));
      Check.fails(MODEL_ERROR, () -> m.forward(IValue.from(six()), IValue.from(six())));
      Check.fails(MODEL_ERROR, () -> m.forward(IValue.from(3)));
      m.forward(IValue.from(six()));
    }
  }

  static void unknownMethod() throws Exception {
    try (Module m = Module.load(KINDS)) {
      Check.fails(IllegalArgumentException.class, () -> m.runMethod("nope"), "Undefined method nope");
      Check.fails(IllegalArgumentException.class, () -> m.runMethod("forward\0", IValue.from(six())));
      m.forward(IValue.from(six()));
    }
  }

  static void boolAndHalfResults() {
    // PyTorch Mobile refused bool and half results.
    try (Module m = Module.load(KINDS)) {
      Tensor bools = m.runMethod("compare", IValue.from(six())).toTensor();
      Check.same(ScalarType.BOOL, bools.scalarType());
      Check.same(new boolean[] {false, false, true, true, true, true}, bools.getDataAsBooleanArray());
      Tensor half = m.runMethod("cast", IValue.from(six()), IValue.from(5)).toTensor();
      Check.same(ScalarType.FLOAT16, half.scalarType());
      Check.same(six().getDataAsFloatArray(), half.getDataAsFloatArray());
      Check.same((short) 0x3c00, half.getDataAsShortArray()[2]);
    }
  }

  static void afterDestroy() throws Exception {
    Module m = Module.load(KINDS);
    Tensor result = m.forward(IValue.from(six())).toTensor();
    m.destroy();
    Check.fails(NullPointerException.class, () -> m.forward(IValue.from(six())));
    Check.fails(NullPointerException.class, () -> m.runMethod("runs"));
    Check.fails(NullPointerException.class, m::methods);
    Check.fails(NullPointerException.class, m::cancel);
    m.destroy();
    m.close();
    System.gc();
    Check.same(new float[] {-2, 0, 2, 4, 6, 8}, result.getDataAsFloatArray());
  }

  static void wrongKind() throws Exception {
    IValue tensor = IValue.from(six());
    Check.fails(IllegalStateException.class, tensor::toTuple, "Expected IValue type Tuple, actual type Tensor");
    Check.fails(IllegalStateException.class, tensor::toBool, "Expected IValue type Bool, actual type Tensor");
    Check.fails(
        IllegalStateException.class, IValue.from(1)::toDictStringKey, "Expected IValue type DictStringKey, actual type Long");
    Check.fails(
        IllegalStateException.class, IValue.optionalNull()::toLongList, "Expected IValue type LongList, actual type Null");
  }

  static void wrongArrayType() throws Exception {
    Tensor f = six();
    Check.fails(
        IllegalStateException.class,
        f::getDataAsLongArray,
        "Tensor of type Tensor_float32 cannot return data as long array.");
    Check.fails(IllegalStateException.class, f::getDataAsByteArray, "Tensor_float32 cannot return data as byte array.");
    Tensor l = Tensor.fromBlob(new long[] {1}, new long[] {1});
    Check.fails(IllegalStateException.class, l::getDataAsFloatArray, "Tensor_int64 cannot return data as float array.");
    Check.fails(IllegalStateException.class, l::getDataAsIntArray, "Tensor_int64 cannot return data as int array.");
    Check.fails(IllegalStateException.class, l::getDataAsDoubleArray, "cannot return data as double array.");
    Check.fails(IllegalStateException.class, l::getDataAsUnsignedByteArray, "cannot return data as byte array.");
  }

  static void fromBlobMisuse() throws Exception {
    Class<?> wrong = IllegalArgumentException.class;
    Check.fails(
        wrong,
        () -> Tensor.fromBlob(FloatBuffer.allocate(2), new long[] {2}),
        "Data buffer must be direct (java.nio.ByteBuffer#allocateDirect)");
    Check.fails(
        wrong,
        () -> Tensor.fromBlob(new float[3], new long[] {2}),
        "Inconsistent data capacity:3 and shape number elements:2 shape:[2]");
    Check.fails(wrong, () -> Tensor.fromBlob(new float[3], new long[] {-3}), "Shape elements must be non negative");
    Check.fails(wrong, () -> Tensor.fromBlob((float[]) null, new long[] {3}), "Data array must be not null");
    Check.fails(wrong, () -> Tensor.fromBlob((FloatBuffer) null, new long[] {3}), "Data buffer must be not null");
    Check.fails(wrong, () -> Tensor.fromBlob(new float[3], null), "Shape must be not null");
    Check.fails(
        wrong,
        () -> Tensor.fromBlob(ByteBuffer.allocateDirect(12).asFloatBuffer(), new long[] {3}),
        "Data buffer must have native byte order (java.nio.ByteOrder#nativeOrder)");
  }

  static void setNumThreads() throws Exception {
    String text = "Number of threads cannot be less than 1";
    Check.fails(IllegalArgumentException.class, () -> PyTorchAndroid.setNumThreads(0), text);
    Check.fails(IllegalArgumentException.class, () -> PyTorchAndroid.setNumThreads(-5), text);
    try (Module before = Module.load(KINDS)) {
      for (int threads : new int[] {1, 3, Integer.MAX_VALUE, 2}) {
        PyTorchAndroid.setNumThreads(threads);
        try (Module m = Module.load(KINDS)) {
          Tensor between = before.forward(IValue.from(six())).toTensor();
          Check.same(
              new float[] {-4, 0, 4, 8, 12, 16}, m.forward(IValue.from(between)).toTensor().getDataAsFloatArray());
        }
      }
    }
  }

  static void setCacheDir() throws Exception {
    java.io.File none = new java.io.File("no such directory");
    Check.fails(
        MODEL_ERROR,
        () -> PyTorchAndroid.setCacheDir(none),
        "cache_dir: there is no directory \"no such directory\"; make it first");
    java.nio.file.Path directory = java.nio.file.Files.createTempDirectory("taper");
    PyTorchAndroid.setCacheDir(directory.toFile());
    try (Module m = Module.load(KINDS)) {
      m.forward(IValue.from(six()));
    }
    for (java.io.File file : directory.toFile().listFiles()) {
      Check.same(true, file.getName().startsWith("taper-") && file.delete());
    }
    java.nio.file.Files.delete(directory);
  }

  static void extraFiles() {
    Map<String, String> files = new HashMap<>();
    files.put("labels.txt", "old");
    files.put("nothing.txt", "old");
    files.put("nul", null);
    Module m = LiteModuleLoader.load(KINDS, files, Device.CPU);
    try {
      Check.same("cat\ndög\n", files.get("labels.txt"));
      Check.same("", files.get("nothing.txt"));
      Check.same("", files.get("nul"));
      Check.same(3, files.size());
    } finally {
      m.destroy();
    }
  }

  static void buffersAliasAndArraysAreCopied() {
    try (Module m = Module.load(KINDS)) {
      FloatBuffer buffer = Tensor.allocateFloatBuffer(2);
      Tensor aliased = Tensor.fromBlob(buffer, new long[] {2});
      buffer.put(0, 5).put(1, 6); // writes to the buffer after the tensor was made from it
      Tensor result = m.runMethod("add_one_", IValue.from(aliased)).toTensor();
      Check.same(6f, buffer.get(0));
      Check.same(new float[] {6, 7}, result.getDataAsFloatArray());
      buffer.put(0, 9);
      Check.same(9f, result.getDataAsFloatArray()[0]); // the model returns its input tensor

      float[] array = {5, 6};
      Tensor copied = Tensor.fromBlob(array, new long[] {2});
      m.runMethod("add_one_", IValue.from(copied));
      Check.same(5f, array[0]);
      Check.same(6f, copied.getDataAsFloatArray()[0]);

      float[] got = aliased.getDataAsFloatArray();
      got[0] = -1;
      Check.same(9f, buffer.get(0));
    }
  }

  static void resultsAreDense() {
    try (Module m = Module.load(KINDS)) {
      Tensor t = m.runMethod("transpose", IValue.from(six())).toTensor();
      Check.same(new long[] {3, 2}, t.shape());
      Check.same(MemoryFormat.CONTIGUOUS, t.memoryFormat());
      Check.same(new float[] {-1, 2, 0, 3, 1, 4}, t.getDataAsFloatArray());
      float[] image = new float[24];
      for (int i = 0; i < 24; i++) {
        image[i] = i;
      }
      Tensor last =
          m.runMethod("channels_last", IValue.from(Tensor.fromBlob(image, new long[] {1, 2, 3, 4}))).toTensor();
      Check.same(MemoryFormat.CHANNELS_LAST, last.memoryFormat());
      Check.same(12f, last.getDataAsFloatArray()[1]);
      Tensor in = Tensor.fromBlob(image, new long[] {1, 2, 3, 4}, MemoryFormat.CHANNELS_LAST);
      Check.same(new long[] {24, 1, 8, 2}, m.runMethod("strides", IValue.from(in)).toLongList());
      Tensor volume = Tensor.fromBlob(image, new long[] {1, 2, 1, 3, 4}, MemoryFormat.CHANNELS_LAST_3D);
      Check.same(new long[] {24, 1, 24, 8, 2}, m.runMethod("strides", IValue.from(volume)).toLongList());
    }
  }

  static void speechState() {
    try (Module m = Module.load(KINDS)) {
      IValue state = IValue.optionalNull(), hypothesis = IValue.optionalNull();
      for (int i = 0; i < 3; i++) {
        IValue[] out = m.runMethod("step", IValue.from(six()), state, hypothesis).toTuple();
        state = out[0];
        hypothesis = out[1];
      }
      IValue[] last = hypothesis.toList()[0].toTuple();
      Check.same(new long[] {0, 1}, last[0].toLongList());
      Check.same(new float[] {-3, 0, 3, 6, 9, 12}, last[1].toTensor().getDataAsFloatArray());
      Check.same(0, last[2].toList().length);
      Check.same(2.0, last[3].toDouble());
    }
  }

  private BehaviourTest() {}
}
