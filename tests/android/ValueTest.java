// SPDX-License-Identifier: BSD-2-Clause
// Passes every kind of value and dtype through a model, which must return it unchanged.

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.pytorch.IValue;
import org.pytorch.Module;
import org.pytorch.ScalarType;
import org.pytorch.Tensor;

final class ValueTest {
  private static final Module M = Module.load(Files.model("kinds.ptl"));

  private static IValue same(Tensor t) {
    return M.runMethod("same", IValue.from(t));
  }

  static void dtypes() throws Exception {
    long[] two = {2};
    Check.same(new byte[] {-1, 2}, same(Tensor.fromBlob(new byte[] {-1, 2}, two)).toTensor().getDataAsByteArray());
    Check.same(
        new byte[] {-1, 2}, same(Tensor.fromBlobUnsigned(new byte[] {-1, 2}, two)).toTensor().getDataAsUnsignedByteArray());
    Check.same(new int[] {-1, 2}, same(Tensor.fromBlob(new int[] {-1, 2}, two)).toTensor().getDataAsIntArray());
    Check.same(
        new float[] {Float.NaN, -0f}, same(Tensor.fromBlob(new float[] {Float.NaN, -0f}, two)).toTensor().getDataAsFloatArray());
    Check.same(
        new long[] {Long.MIN_VALUE, 2}, same(Tensor.fromBlob(new long[] {Long.MIN_VALUE, 2}, two)).toTensor().getDataAsLongArray());
    Check.same(new double[] {-1, 2}, same(Tensor.fromBlob(new double[] {-1, 2}, two)).toTensor().getDataAsDoubleArray());
    Check.same(
        new boolean[] {true, false}, same(Tensor.fromBlob(new boolean[] {true, false}, two)).toTensor().getDataAsBooleanArray());
    Check.same(new short[] {-1, 2}, same(Tensor.fromBlob(new short[] {-1, 2}, two)).toTensor().getDataAsShortArray());
    for (ScalarType type : ScalarType.values()) {
      if (type.isQuantized()) {
        continue;
      }
      ByteBuffer bytes = ByteBuffer.allocateDirect(2 * type.itemsize()).order(ByteOrder.nativeOrder());
      for (int i = 0; i < bytes.capacity(); i++) {
        bytes.put(i, (byte) (i % 2));
      }
      Tensor result = same(Tensor.fromBlob(bytes, type, two)).toTensor();
      Check.same(type, result.scalarType());
      Check.same(bytes, result.getDataAsBuffer());
      Check.same("Tensor([2], dtype=" + type + ")", result.toString());
      if (type.dtype() == null) {
        Check.fails(IllegalStateException.class, result::dtype, "has no DType", type.toString());
      } else {
        Check.same(type.dtype(), result.dtype());
        Check.same(type, ScalarType.of(result.dtype()));
      }
    }
  }

  /** A tensor has the buffer's elements before the limit, regardless of the buffer's position, as in PyTorch Mobile. */
  static void buffersWithLimits() {
    long[] six = {6};
    FloatBuffer floats = Tensor.allocateFloatBuffer(6);
    floats.put(new float[] {1, 2, 3, 4, 5, 6}).position(2).limit(3);
    Tensor t = Tensor.fromBlob(floats, six);
    Check.same(new float[] {1, 2, 3}, t.getDataAsFloatArray());
    Check.same(new float[] {2, 4, 6, 8, 10, 12}, M.forward(IValue.from(t)).toTensor().getDataAsFloatArray());
    floats.clear();
    Check.same(6, t.getDataAsFloatArray().length);
    IntBuffer ints = Tensor.allocateIntBuffer(6);
    ints.put(new int[] {1, 2, 3, 4, 5, 6}).flip().limit(2);
    Check.same(new int[] {1, 2}, Tensor.fromBlob(ints, six).getDataAsIntArray());
    LongBuffer longs = Tensor.allocateLongBuffer(6);
    longs.limit(4);
    Check.same(new long[4], Tensor.fromBlob(longs, six).getDataAsLongArray());
    DoubleBuffer doubles = Tensor.allocateDoubleBuffer(6);
    doubles.limit(0);
    Check.same(new double[0], Tensor.fromBlob(doubles, six).getDataAsDoubleArray());
    ByteBuffer bytes = Tensor.allocateByteBuffer(6);
    bytes.limit(5);
    Check.same(new byte[5], Tensor.fromBlob(bytes, six).getDataAsByteArray());
    Check.same(new byte[5], Tensor.fromBlobUnsigned(bytes, six).getDataAsUnsignedByteArray());
    Check.same(new boolean[5], Tensor.fromBlob(bytes, ScalarType.BOOL, six).getDataAsBooleanArray());
    Check.same(new short[2], Tensor.fromBlob(bytes, ScalarType.INT16, new long[] {3}).getDataAsShortArray());
    Check.same(new float[2], Tensor.fromBlob(bytes, ScalarType.FLOAT16, new long[] {3}).getDataAsFloatArray());
  }

  /** The error texts that apps look for. */
  static void wrongKinds() throws Exception {
    String[] names = {
      "Null", "Tensor", "Bool", "Long", "Double", "String", "Tuple", "BoolList", "LongList", "DoubleList", "TensorList",
      "GenericList", "DictStringKey", "DictLongKey"
    };
    Tensor t = Tensor.fromBlob(new float[1], new long[] {1});
    IValue[] values = {
      IValue.optionalNull(), IValue.from(t), IValue.from(true), IValue.from(1L), IValue.from(1.0), IValue.from(""),
      IValue.tupleFrom(), IValue.listFrom(true), IValue.listFrom(1L), IValue.listFrom(1.0), IValue.listFrom(t),
      IValue.listFrom(IValue.from("")), IValue.dictStringKeyFrom(new HashMap<>()), IValue.dictLongKeyFrom(new HashMap<>())
    };
    for (int i = 0; i < values.length; i++) {
      final IValue v = values[i];
      Check.Action[] wrong = {
        null, v::toTensor, v::toBool, v::toLong, v::toDouble, v::toStr, v::toTuple, v::toBoolList, v::toLongList,
        v::toDoubleList, v::toTensorList, v::toList, v::toDictStringKey, v::toDictLongKey
      };
      for (int k = 1; k < wrong.length; k++) {
        if (i != k) {
          final String text = "Expected IValue type " + names[k] + ", actual type " + names[i];
          Check.fails(IllegalStateException.class, wrong[k], text);
        }
      }
    }
  }

  static void typesWithinTypes() throws Exception {
    Module m = Module.load(Files.model("../nested/nested.pt"));
    IValue lists = IValue.listFrom(IValue.listFrom(1L, 2L), IValue.listFrom(new long[0]));
    Check.same(new long[] {2}, m.runMethod("ints", lists).toList()[2].toLongList());
    Check.same(new long[] {0}, m.runMethod("ints", IValue.listFrom(new IValue[0])).toList()[0].toLongList());
    IValue strings = IValue.listFrom(IValue.listFrom(IValue.listFrom(IValue.from("a"), IValue.from("b")), IValue.listFrom(new IValue[0])));
    Check.same(2L, m.runMethod("deep", strings).toLong());
    IValue pair = IValue.tupleFrom(IValue.from(1L), IValue.from("a"));
    Check.same("a", m.runMethod("pairs", IValue.listFrom(pair, pair)).toList()[1].toTuple()[0].toStr());
    Check.same(2L, m.runMethod("points", IValue.listFrom(pair)).toList()[0].toTuple()[0].toLong());
    Check.same(new long[] {3, 4}, m.runMethod("optionals", IValue.listFrom(IValue.from(3L), IValue.from(4L))).toLongList());
    Check.same(new long[] {-1}, m.runMethod("optionals", IValue.listFrom(IValue.optionalNull())).toLongList());
    Check.same(new long[] {3, 4}, m.runMethod("optionals", IValue.listFrom(3L, 4L)).toLongList());
    Check.same(new long[0], m.runMethod("optionals", IValue.listFrom(new long[0])).toLongList());
    Check.same(2L, m.runMethod("maybe", lists).toLong());
    Check.same(-1L, m.runMethod("maybe", IValue.optionalNull()).toLong());
    Check.same(new long[] {2, 0}, m.runMethod("maybe_inner", lists).toLongList());
    Map<String, IValue> floats = new HashMap<>();
    floats.put("a", IValue.listFrom(0.5));
    Check.same(new double[] {1}, m.runMethod("table", IValue.dictStringKeyFrom(floats)).toDictStringKey().get("size").toDoubleList());
    Map<String, IValue> inner = new HashMap<>();
    inner.put("a", IValue.listFrom(5L));
    Map<Long, IValue> outer = new HashMap<>();
    outer.put(4L, IValue.dictStringKeyFrom(inner));
    Map<Long, IValue> result = m.runMethod("numbered", IValue.dictLongKeyFrom(outer)).toDictLongKey();
    Check.same(new long[] {7}, result.get(1L).toDictStringKey().get("new").toLongList());
    IValue both = IValue.tupleFrom(IValue.listFrom(1L), IValue.tupleFrom(IValue.from(2.0), IValue.listFrom(3.0)));
    Check.same(new double[] {3}, m.runMethod("both", both).toTuple()[1].toTuple()[1].toDoubleList());
  }

  static void halves() {
    float[] floats = {0, -0f, 1, -2.5f, 65504, 6.103515625e-5f, 5.9604645e-8f, Float.POSITIVE_INFINITY, 1 / 3f};
    Tensor f = Tensor.fromBlob(floats, new long[] {floats.length});
    float[] half = M.runMethod("cast", IValue.from(f), IValue.from(5)).toTensor().getDataAsFloatArray();
    float[] brain = M.runMethod("cast", IValue.from(f), IValue.from(15)).toTensor().getDataAsFloatArray();
    for (int i = 0; i < 8; i++) {
      Check.same(floats[i], half[i]);
    }
    Check.same(0.33325195f, half[8]);
    Check.same(0.33398438f, brain[8]);
    Tensor nan = Tensor.fromBlob(new float[] {Float.NaN}, new long[] {1});
    Check.that(Float.isNaN(M.runMethod("cast", IValue.from(nan), IValue.from(5)).toTensor().getDataAsFloatArray()[0]), "NaN");
  }

  static void quantized() throws Exception {
    Tensor q = M.runMethod("quantize", IValue.from(Tensor.fromBlob(new float[] {0, 1, -1}, new long[] {3}))).toTensor();
    Check.same(ScalarType.QUINT8, q.scalarType());
    Check.same(0.5, q.quantizationScale());
    Check.same(3L, q.quantizationZeroPoint());
    Check.same(new byte[] {3, 5, 1}, q.getDataAsUnsignedByteArray());
    Check.same(
        new float[] {0, 1, -1}, M.runMethod("dequantize", IValue.from(q)).toTensor().getDataAsFloatArray());
    Check.fails(IllegalStateException.class, q::getDataAsFloatArray);
    Check.fails(
        IllegalArgumentException.class,
        () -> Tensor.fromBlob(ByteBuffer.allocateDirect(1), ScalarType.QUINT8, new long[] {1}));
  }

  static void shapes() {
    Check.same(new long[0], same(Tensor.fromBlob(new float[] {3}, new long[0])).toTensor().shape());
    Tensor empty = same(Tensor.fromBlob(new float[0], new long[] {2, 0, 3})).toTensor();
    Check.same(new long[] {2, 0, 3}, empty.shape());
    Check.same(0, empty.getDataAsFloatArray().length);
    Check.same(0L, empty.numel());
    long[] eight = {1, 1, 2, 1, 1, 1, 1, 1};
    Check.same(eight, same(Tensor.fromBlob(new float[2], eight)).toTensor().shape());
    Check.same(6L, Tensor.numel(new long[] {2, 3}));
  }

  static void buffersWithoutCopies() {
    ByteBuffer bytes = Tensor.allocateByteBuffer(8);
    bytes.putFloat(0, 1).putFloat(4, 2);
    Tensor result = M.forward(IValue.from(Tensor.fromBlob(bytes, ScalarType.FLOAT32, new long[] {2}))).toTensor();
    ByteBuffer out = result.getDataAsBuffer();
    Check.that(out.isDirect() && out.order() == ByteOrder.nativeOrder(), "direct");
    Check.same(4f, out.asFloatBuffer().get(1));
    out.asFloatBuffer().put(1, 5);
    Check.same(5f, result.getDataAsFloatArray()[1]); // the result shares its memory with the input
    result = null;
    System.gc();
    Check.same(5f, out.asFloatBuffer().get(1)); // the buffer keeps the memory alive after the tensor is gone
  }

  static void modelsOwnTensors() {
    for (int i = 0; i < 2; i++) {
      Tensor own = M.runMethod("own").toTensor();
      Check.same(new float[] {0, 1, 2, 3, 4, 5}, own.getDataAsFloatArray());
      if (!own.getDataAsBuffer().isReadOnly()) {
        Check.same(6, own.getDataAsBuffer().asFloatBuffer().remaining());
      }
      M.runMethod("compare", IValue.from(own));
    }
  }

  static void readOnlyBuffers() {
    ByteBuffer bytes = Tensor.allocateByteBuffer(4);
    bytes.putFloat(0, 1);
    Tensor t = Tensor.fromBlob(bytes.asReadOnlyBuffer().order(ByteOrder.nativeOrder()).asFloatBuffer(), new long[] {1});
    Check.same(2f, M.runMethod("add_one_", IValue.from(t)).toTensor().getDataAsFloatArray()[0]);
    Check.same(1f, bytes.getFloat(0)); // unchanged, because the model wrote to a copy
  }

  static void lists() {
    Check.same(new boolean[] {false, true}, M.runMethod("bools", IValue.listFrom(true, false)).toBoolList());
    Check.same(new boolean[0], M.runMethod("bools", IValue.listFrom(new boolean[0])).toBoolList());
    long[] many = new long[1000];
    Arrays.setAll(many, i -> i);
    Check.same(1000L, M.runMethod("longs", IValue.listFrom(many)).toLongList()[999]);
    Check.same(new double[] {1, -3}, M.runMethod("doubles", IValue.listFrom(0.5, -1.5)).toDoubleList());
    Tensor one = Tensor.fromBlob(new float[] {1}, new long[] {1});
    Tensor[] out = M.runMethod("tensors", IValue.listFrom(one, one)).toTensorList();
    Check.same(2f, out[1].getDataAsFloatArray()[0]);
    Check.same(0, M.runMethod("tensors", IValue.listFrom(new Tensor[0])).toTensorList().length);
    IValue strings = M.runMethod("strings", IValue.listFrom(IValue.from("a"), IValue.from("ü\ud83d\udc36\0")));
    Check.same("ü\ud83d\udc36\0!", strings.toList()[1].toStr());
    Check.same("ü\ud83d\udc36\0!!", M.runMethod("strings", strings).toList()[1].toStr());
    IValue nested = M.runMethod("nested", IValue.listFrom(IValue.listFrom(5L), IValue.listFrom(new long[0])));
    Check.same(new long[] {2}, nested.toList()[2].toLongList());
  }

  static void dicts() {
    Map<String, IValue> names = new HashMap<>();
    names.put("ä", IValue.from(1));
    names.put("", IValue.from(2));
    IValue byName = M.runMethod("by_name", IValue.dictStringKeyFrom(names));
    Check.same(2L, byName.toDictStringKey().get("size").toLong());
    Check.same(1L, byName.toDictStringKey().get("ä").toLong());
    Check.same(3L, M.runMethod("by_name", byName).toDictStringKey().get("size").toLong());
    Map<Long, IValue> numbers = new HashMap<>();
    numbers.put(5L, IValue.from(Tensor.fromBlob(new float[] {1}, new long[] {1})));
    IValue byNumber = M.runMethod("by_number", IValue.dictLongKeyFrom(numbers));
    Check.same(6f, byNumber.toDictLongKey().get(5L).toTensor().getDataAsFloatArray()[0]);
    Check.same(0, M.runMethod("by_number", IValue.dictLongKeyFrom(new HashMap<>())).toDictLongKey().size());
  }

  static void rest() {
    Check.same("abab", M.runMethod("text", IValue.from("ab")).toStr());
    Check.same("", M.runMethod("text", IValue.from("")).toStr());
    Check.same("\ufffd\ufffd", M.runMethod("text", IValue.from("\ud800")).toStr());
    StringBuilder wide = new StringBuilder();
    for (int i = 0; i < 500; i++) {
      wide.append("€\ud83d\udc36");
    }
    Check.same(wide + "" + wide, M.runMethod("text", IValue.from(wide.toString())).toStr());
    Check.that(M.runMethod("optional", IValue.optionalNull()).isNull(), "None");
    IValue[] scalars = M.runMethod("scalar", IValue.from(true), IValue.from(-3), IValue.from(5.0)).toTuple();
    Check.that(!scalars[0].toBool() && scalars[1].toLong() == -2 && scalars[2].toDouble() == 2.5, "scalars");
    IValue[] pair = M.runMethod("pair", IValue.from(Tensor.fromBlob(new float[1], new long[] {1}))).toTuple();
    Check.same(7L, pair[1].toLong());
    IValue number = M.runMethod("complexes");
    Check.that(number.isObject(), "complex");
    Check.same(Math.sqrt(5), M.runMethod("magnitude", number).toDouble());
  }

  /** Returns a nested tuple, in which each level contains one tuple twice. */
  private static IValue shared(int levels) {
    IValue value = IValue.from(1L);
    for (int i = 0; i < levels; i++) {
      value = IValue.tupleFrom(value, value);
    }
    return value;
  }

  static void sharedParts() throws Exception {
    Module any = Module.load(new java.io.File(System.getProperty("samples"), "../../models/data/any.ptl").getPath());
    Check.same(2, any.forward(shared(10)).toTuple().length);
    Check.fails(IllegalArgumentException.class, () -> any.forward(shared(60)), "holds more than 1048576 others");
    IValue[] lists = {shared(60)};
    Check.fails(IllegalArgumentException.class, () -> any.forward(IValue.listFrom(lists)), "holds more than 1048576 others");
    // The value has few enough items for an input, but too many for a result.
    Check.fails(
        BehaviourTest.MODEL_ERROR, () -> any.runMethod("twice", shared(19)), "holds more than 1048576 items");
    any.destroy();
  }

  private ValueTest() {}
}
