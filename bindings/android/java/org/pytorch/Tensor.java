// SPDX-License-Identifier: BSD-2-Clause
package org.pytorch;

import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.ShortBuffer;
import java.util.Arrays;
import java.util.Locale;

/**
 * A tensor: a direct buffer with its shape, type and memory format. Most tensors have one of the six types that {@link
 * #dtype} returns; {@link #scalarType} returns any type.
 *
 * <p>fromBlob copies arrays and uses direct buffers in place: the next run reads data that the app writes to such a
 * buffer, and the app sees data that a model writes to its input. The getDataAs… methods return copies, except {@link
 * #getDataAsBuffer}. For an app's buffer they return the elements before its limit. The tensors that a module returns
 * are dense, in one of the three memory formats.
 */
public abstract class Tensor {
  private static final String ERROR_MSG_DATA_BUFFER_NOT_NULL = "Data buffer must be not null";
  private static final String ERROR_MSG_DATA_ARRAY_NOT_NULL = "Data array must be not null";
  private static final String ERROR_MSG_SHAPE_NOT_NULL = "Shape must be not null";
  private static final String ERROR_MSG_SHAPE_NON_NEGATIVE = "Shape elements must be non negative";
  private static final String ERROR_MSG_DATA_BUFFER_MUST_BE_DIRECT =
      "Data buffer must be direct (java.nio.ByteBuffer#allocateDirect)";
  private static final String ERROR_MSG_DATA_BUFFER_MUST_HAVE_NATIVE_BYTE_ORDER =
      "Data buffer must have native byte order (java.nio.ByteOrder#nativeOrder)";

  // Native code reads these fields.
  final long[] shape;
  final MemoryFormat memoryFormat;
  private final Buffer mData; // buffer of bytes or elements; only its address is used, not its position
  private final ScalarType mType;
  private final int mDType;
  private final int mFormat;
  private final boolean mReadOnly;
  private final Buffer mTyped; // buffer of elements, if Java has such a buffer for the type
  private final long mHandle; // native value that owns the memory of mData; 0 for none
  // Object that keeps the native value; needed because views of buffers do not keep it on Android before 7.0.
  private final Object mOwner;

  /** The members that tensors of all dtypes have. */
  private static final class Parts {
    final Buffer data; // native code's buffer of bytes, or the app's buffer
    final Buffer typed;
    final long[] shape;
    final MemoryFormat memoryFormat;
    long handle;
    Object owner;
    double scale;
    long zeroPoint;

    Parts(Buffer data, long[] shape, MemoryFormat memoryFormat) {
      this.data = data;
      this.typed = data;
      this.shape = shape.clone();
      this.memoryFormat = memoryFormat;
    }

    Parts(ByteBuffer data, Buffer typed, long[] shape, int format, long handle) {
      this.data = data;
      this.typed = typed;
      this.shape = shape;
      this.memoryFormat = MemoryFormat.ofCode(format);
      this.handle = handle;
    }
  }

  private Tensor(Parts parts, ScalarType type) {
    shape = parts.shape;
    memoryFormat = parts.memoryFormat;
    mData = parts.data;
    mTyped = parts.typed;
    mType = type;
    mDType = type.jniCode;
    mFormat = memoryFormat.jniCode;
    mReadOnly = mData.isReadOnly();
    mHandle = parts.handle;
    mOwner = parts.owner;
  }

  /** Allocates a direct buffer of native byte order for numElements bytes. */
  public static ByteBuffer allocateByteBuffer(int numElements) {
    return allocate(numElements, 1);
  }

  /** Allocates a direct buffer of native byte order for numElements ints. */
  public static IntBuffer allocateIntBuffer(int numElements) {
    return allocate(numElements, 4).asIntBuffer();
  }

  /** Allocates a direct buffer of native byte order for numElements floats. */
  public static FloatBuffer allocateFloatBuffer(int numElements) {
    return allocate(numElements, 4).asFloatBuffer();
  }

  /** Allocates a direct buffer of native byte order for numElements longs. */
  public static LongBuffer allocateLongBuffer(int numElements) {
    return allocate(numElements, 8).asLongBuffer();
  }

  /** Allocates a direct buffer of native byte order for numElements doubles. */
  public static DoubleBuffer allocateDoubleBuffer(int numElements) {
    return allocate(numElements, 8).asDoubleBuffer();
  }

  private static ByteBuffer allocate(int numElements, int size) {
    final long bytes = (long) numElements * size;
    checkArgument(bytes >= 0, "Number of elements must be non negative");
    checkArgument(bytes <= Integer.MAX_VALUE, "A buffer of %d bytes is larger than 2 GB", bytes);
    try {
      return ByteBuffer.allocateDirect((int) bytes).order(ByteOrder.nativeOrder());
    } catch (OutOfMemoryError e) {
      throw new RuntimeException("Not enough memory for a buffer of " + bytes + " bytes", e);
    }
  }

  /** Makes a torch.uint8 tensor with a copy of the array. */
  public static Tensor fromBlobUnsigned(byte[] data, long[] shape) {
    return fromBlobUnsigned(data, shape, MemoryFormat.CONTIGUOUS);
  }

  /** Makes a torch.uint8 tensor with a copy of the array, whose elements are in the order of memoryFormat. */
  public static Tensor fromBlobUnsigned(byte[] data, long[] shape, MemoryFormat memoryFormat) {
    checkArgument(data != null, ERROR_MSG_DATA_ARRAY_NOT_NULL);
    check(data.length, shape, memoryFormat);
    final ByteBuffer buffer = allocateByteBuffer(data.length);
    buffer.put(data);
    return new Tensor_uint8(new Parts(buffer, shape, memoryFormat));
  }

  /** Makes a torch.uint8 tensor over a direct buffer of native byte order, which is used in place. */
  public static Tensor fromBlobUnsigned(ByteBuffer data, long[] shape) {
    return fromBlobUnsigned(data, shape, MemoryFormat.CONTIGUOUS);
  }

  /**
   * Makes a torch.uint8 tensor over a direct buffer of native byte order. The buffer is used in place, and its elements
   * are in the order of memoryFormat.
   */
  public static Tensor fromBlobUnsigned(ByteBuffer data, long[] shape, MemoryFormat memoryFormat) {
    checkArgument(data != null, ERROR_MSG_DATA_BUFFER_NOT_NULL);
    check(data.capacity(), shape, memoryFormat);
    checkBuffer(data.isDirect(), data.order());
    return new Tensor_uint8(new Parts(data, shape, memoryFormat));
  }

  /** Makes a torch.int8 tensor with a copy of the array. */
  public static Tensor fromBlob(byte[] data, long[] shape) {
    return fromBlob(data, shape, MemoryFormat.CONTIGUOUS);
  }

  /** Makes a torch.int8 tensor with a copy of the array, whose elements are in the order of memoryFormat. */
  public static Tensor fromBlob(byte[] data, long[] shape, MemoryFormat memoryFormat) {
    checkArgument(data != null, ERROR_MSG_DATA_ARRAY_NOT_NULL);
    check(data.length, shape, memoryFormat);
    final ByteBuffer buffer = allocateByteBuffer(data.length);
    buffer.put(data);
    return new Tensor_int8(new Parts(buffer, shape, memoryFormat));
  }

  /** Makes a torch.int8 tensor over a direct buffer of native byte order, which is used in place. */
  public static Tensor fromBlob(ByteBuffer data, long[] shape) {
    return fromBlob(data, shape, MemoryFormat.CONTIGUOUS);
  }

  /**
   * Makes a torch.int8 tensor over a direct buffer of native byte order. The buffer is used in place, and its elements
   * are in the order of memoryFormat.
   */
  public static Tensor fromBlob(ByteBuffer data, long[] shape, MemoryFormat memoryFormat) {
    checkArgument(data != null, ERROR_MSG_DATA_BUFFER_NOT_NULL);
    check(data.capacity(), shape, memoryFormat);
    checkBuffer(data.isDirect(), data.order());
    return new Tensor_int8(new Parts(data, shape, memoryFormat));
  }

  /** Makes a torch.int32 tensor with a copy of the array. */
  public static Tensor fromBlob(int[] data, long[] shape) {
    return fromBlob(data, shape, MemoryFormat.CONTIGUOUS);
  }

  /** Makes a torch.int32 tensor with a copy of the array, whose elements are in the order of memoryFormat. */
  public static Tensor fromBlob(int[] data, long[] shape, MemoryFormat memoryFormat) {
    checkArgument(data != null, ERROR_MSG_DATA_ARRAY_NOT_NULL);
    check(data.length, shape, memoryFormat);
    final IntBuffer buffer = allocateIntBuffer(data.length);
    buffer.put(data);
    return new Tensor_int32(new Parts(buffer, shape, memoryFormat));
  }

  /** Makes a torch.int32 tensor over a direct buffer of native byte order, which is used in place. */
  public static Tensor fromBlob(IntBuffer data, long[] shape) {
    return fromBlob(data, shape, MemoryFormat.CONTIGUOUS);
  }

  /**
   * Makes a torch.int32 tensor over a direct buffer of native byte order. The buffer is used in place, and its elements
   * are in the order of memoryFormat.
   */
  public static Tensor fromBlob(IntBuffer data, long[] shape, MemoryFormat memoryFormat) {
    checkArgument(data != null, ERROR_MSG_DATA_BUFFER_NOT_NULL);
    check(data.capacity(), shape, memoryFormat);
    checkBuffer(data.isDirect(), data.order());
    return new Tensor_int32(new Parts(data, shape, memoryFormat));
  }

  /** Makes a torch.float32 tensor with a copy of the array. */
  public static Tensor fromBlob(float[] data, long[] shape) {
    return fromBlob(data, shape, MemoryFormat.CONTIGUOUS);
  }

  /** Makes a torch.float32 tensor with a copy of the array, whose elements are in the order of memoryFormat. */
  public static Tensor fromBlob(float[] data, long[] shape, MemoryFormat memoryFormat) {
    checkArgument(data != null, ERROR_MSG_DATA_ARRAY_NOT_NULL);
    check(data.length, shape, memoryFormat);
    final FloatBuffer buffer = allocateFloatBuffer(data.length);
    buffer.put(data);
    return new Tensor_float32(new Parts(buffer, shape, memoryFormat));
  }

  /** Makes a torch.float32 tensor over a direct buffer of native byte order, which is used in place. */
  public static Tensor fromBlob(FloatBuffer data, long[] shape) {
    return fromBlob(data, shape, MemoryFormat.CONTIGUOUS);
  }

  /**
   * Makes a torch.float32 tensor over a direct buffer of native byte order. The buffer is used in place, and its
   * elements are in the order of memoryFormat.
   */
  public static Tensor fromBlob(FloatBuffer data, long[] shape, MemoryFormat memoryFormat) {
    checkArgument(data != null, ERROR_MSG_DATA_BUFFER_NOT_NULL);
    check(data.capacity(), shape, memoryFormat);
    checkBuffer(data.isDirect(), data.order());
    return new Tensor_float32(new Parts(data, shape, memoryFormat));
  }

  /** Makes a torch.int64 tensor with a copy of the array. */
  public static Tensor fromBlob(long[] data, long[] shape) {
    return fromBlob(data, shape, MemoryFormat.CONTIGUOUS);
  }

  /** Makes a torch.int64 tensor with a copy of the array, whose elements are in the order of memoryFormat. */
  public static Tensor fromBlob(long[] data, long[] shape, MemoryFormat memoryFormat) {
    checkArgument(data != null, ERROR_MSG_DATA_ARRAY_NOT_NULL);
    check(data.length, shape, memoryFormat);
    final LongBuffer buffer = allocateLongBuffer(data.length);
    buffer.put(data);
    return new Tensor_int64(new Parts(buffer, shape, memoryFormat));
  }

  /** Makes a torch.int64 tensor over a direct buffer of native byte order, which is used in place. */
  public static Tensor fromBlob(LongBuffer data, long[] shape) {
    return fromBlob(data, shape, MemoryFormat.CONTIGUOUS);
  }

  /**
   * Makes a torch.int64 tensor over a direct buffer of native byte order. The buffer is used in place, and its elements
   * are in the order of memoryFormat.
   */
  public static Tensor fromBlob(LongBuffer data, long[] shape, MemoryFormat memoryFormat) {
    checkArgument(data != null, ERROR_MSG_DATA_BUFFER_NOT_NULL);
    check(data.capacity(), shape, memoryFormat);
    checkBuffer(data.isDirect(), data.order());
    return new Tensor_int64(new Parts(data, shape, memoryFormat));
  }

  /** Makes a torch.float64 tensor with a copy of the array. */
  public static Tensor fromBlob(double[] data, long[] shape) {
    return fromBlob(data, shape, MemoryFormat.CONTIGUOUS);
  }

  /** Makes a torch.float64 tensor with a copy of the array, whose elements are in the order of memoryFormat. */
  public static Tensor fromBlob(double[] data, long[] shape, MemoryFormat memoryFormat) {
    checkArgument(data != null, ERROR_MSG_DATA_ARRAY_NOT_NULL);
    check(data.length, shape, memoryFormat);
    final DoubleBuffer buffer = allocateDoubleBuffer(data.length);
    buffer.put(data);
    return new Tensor_float64(new Parts(buffer, shape, memoryFormat));
  }

  /** Makes a torch.float64 tensor over a direct buffer of native byte order, which is used in place. */
  public static Tensor fromBlob(DoubleBuffer data, long[] shape) {
    return fromBlob(data, shape, MemoryFormat.CONTIGUOUS);
  }

  /**
   * Makes a torch.float64 tensor over a direct buffer of native byte order. The buffer is used in place, and its
   * elements are in the order of memoryFormat.
   */
  public static Tensor fromBlob(DoubleBuffer data, long[] shape, MemoryFormat memoryFormat) {
    checkArgument(data != null, ERROR_MSG_DATA_BUFFER_NOT_NULL);
    check(data.capacity(), shape, memoryFormat);
    checkBuffer(data.isDirect(), data.order());
    return new Tensor_float64(new Parts(data, shape, memoryFormat));
  }

  /** Works like {@link #fromBlob(double[], long[])}, with the order of arguments of PyTorch Mobile 1.3. */
  public static Tensor fromBlob(long[] shape, double[] data) {
    return fromBlob(data, shape);
  }

  /** Makes a torch.bool tensor with a copy of the array. */
  public static Tensor fromBlob(boolean[] data, long[] shape) {
    checkArgument(data != null, ERROR_MSG_DATA_ARRAY_NOT_NULL);
    check(data.length, shape, MemoryFormat.CONTIGUOUS);
    final ByteBuffer buffer = allocateByteBuffer(data.length);
    for (boolean b : data) {
      buffer.put((byte) (b ? 1 : 0));
    }
    return new Tensor_bool(new Parts(buffer, shape, MemoryFormat.CONTIGUOUS));
  }

  /** Makes a torch.int16 tensor with a copy of the array. */
  public static Tensor fromBlob(short[] data, long[] shape) {
    checkArgument(data != null, ERROR_MSG_DATA_ARRAY_NOT_NULL);
    check(data.length, shape, MemoryFormat.CONTIGUOUS);
    final ByteBuffer buffer = allocate(data.length, 2);
    buffer.asShortBuffer().put(data);
    return fromBlob(buffer, ScalarType.INT16, shape, MemoryFormat.CONTIGUOUS);
  }

  /**
   * Makes a tensor of any type except quantized ones over a direct buffer of native byte order, which is used in place.
   * The buffer has exactly the bytes of the elements. Bytes of torch.bool are 0 or 1.
   */
  public static Tensor fromBlob(ByteBuffer data, ScalarType type, long[] shape) {
    return fromBlob(data, type, shape, MemoryFormat.CONTIGUOUS);
  }

  /** Works like {@link #fromBlob(ByteBuffer, ScalarType, long[])}, with elements in the order of memoryFormat. */
  public static Tensor fromBlob(ByteBuffer data, ScalarType type, long[] shape, MemoryFormat memoryFormat) {
    checkArgument(data != null, ERROR_MSG_DATA_BUFFER_NOT_NULL);
    checkArgument(type != null, "ScalarType must be not null");
    checkArgument(!type.isQuantized(), "Quantized tensors come from models alone");
    final int elements = data.capacity() / type.itemsize();
    check(elements * type.itemsize() == data.capacity() ? elements : data.capacity(), shape, memoryFormat);
    checkBuffer(data.isDirect(), data.order());
    return of(type, new Parts(data, typed(type, data), shape, memoryFormat.jniCode, 0));
  }

  /** Makes a tensor over native memory. The whole buffer {@code data} is this memory. Called by native code. */
  private static Tensor nativeNewTensor(
      ByteBuffer data, long[] shape, int dtype, int format, boolean readOnly, long handle, double scale,
      long zeroPoint) {
    Reclaimer.ofValue(data, handle, data.capacity());
    data.order(ByteOrder.nativeOrder());
    final ByteBuffer bytes = readOnly ? data.asReadOnlyBuffer().order(ByteOrder.nativeOrder()) : data;
    final ScalarType type = ScalarType.ofCode(dtype);
    final Parts parts = new Parts(bytes, typed(type, bytes), shape, format, handle);
    parts.owner = data;
    parts.scale = scale;
    parts.zeroPoint = zeroPoint;
    return of(type, parts);
  }

  // A typed view has the limit of `data`, in its own elements.
  private static Buffer typed(ScalarType type, ByteBuffer data) {
    if (type.dtype() == null) {
      return data;
    }
    final ByteBuffer all = data.duplicate().order(ByteOrder.nativeOrder());
    all.rewind();
    switch (type.dtype()) {
      case INT32:
        return all.asIntBuffer();
      case FLOAT32:
        return all.asFloatBuffer();
      case INT64:
        return all.asLongBuffer();
      case FLOAT64:
        return all.asDoubleBuffer();
      default:
        return data;
    }
  }

  private static Tensor of(ScalarType type, Parts parts) {
    if (type.dtype() == null) {
      return type == ScalarType.BOOL
          ? new Tensor_bool(parts)
          : type == ScalarType.INT16
              ? new Tensor_int16(parts)
              : type == ScalarType.FLOAT16
                  ? new Tensor_float16(parts)
                  : type == ScalarType.BFLOAT16 ? new Tensor_bfloat16(parts) : new Tensor_other(type, parts);
    }
    switch (type.dtype()) {
      case UINT8:
        return new Tensor_uint8(parts);
      case INT8:
        return new Tensor_int8(parts);
      case INT32:
        return new Tensor_int32(parts);
      case FLOAT32:
        return new Tensor_float32(parts);
      case INT64:
        return new Tensor_int64(parts);
      default:
        return new Tensor_float64(parts);
    }
  }

  /** Returns the number of elements. */
  public long numel() {
    return numel(shape);
  }

  /** Returns the number of elements of a tensor with this shape. */
  public static long numel(long[] shape) {
    checkShape(shape);
    long result = 1;
    for (long s : shape) {
      if (s == 0) {
        return 0;
      }
    }
    for (long s : shape) {
      checkArgument(result <= Long.MAX_VALUE / s, "Shape %s has too many elements", Arrays.toString(shape));
      result *= s;
    }
    return result;
  }

  /** Returns the sizes, in a new array. */
  public long[] shape() {
    return shape.clone();
  }

  public MemoryFormat memoryFormat() {
    return memoryFormat;
  }

  /**
   * Returns the type of the elements, one of PyTorch Mobile's six.
   *
   * @throws IllegalStateException for a tensor of another type; use {@link #scalarType}
   */
  public DType dtype() {
    final DType dtype = mType.dtype();
    if (dtype == null) {
      throw new IllegalStateException(
          "Tensor of type " + getClass().getSimpleName() + " has no DType: scalarType() is " + mType + ".");
    }
    return dtype;
  }

  /** Returns the type of the elements. */
  public ScalarType scalarType() {
    return mType;
  }

  int dtypeJniCode() {
    return mDType;
  }

  int memoryFormatJniCode() {
    return memoryFormat.jniCode;
  }

  /** Returns the buffer of the elements, not a copy. */
  Buffer getRawDataBuffer() {
    return mTyped;
  }

  /**
   * Returns the bytes of the elements without a copy, as a direct buffer of native byte order. Its views are typed
   * (asFloatBuffer() …). The buffer keeps the memory of a result alive. On Android before 7.0, views of the buffer do
   * not keep this memory alive, so keep the tensor there. The buffer is read-only if the bytes belong to the model. A
   * tensor over an app's typed buffer has no such bytes.
   */
  public ByteBuffer getDataAsBuffer() {
    if (!(mData instanceof ByteBuffer)) {
      throw new IllegalStateException("Tensor over a buffer that is no ByteBuffer cannot return data as bytes.");
    }
    final ByteBuffer bytes = ((ByteBuffer) mData).duplicate().order(ByteOrder.nativeOrder());
    bytes.clear();
    return bytes;
  }

  /** Returns the bytes of a tensor over a byte buffer, up to the buffer's limit. */
  final ByteBuffer limited() {
    final ByteBuffer bytes = ((ByteBuffer) mData).duplicate().order(ByteOrder.nativeOrder());
    bytes.rewind();
    return bytes;
  }

  private IllegalStateException cannot(String kind) {
    return new IllegalStateException(
        "Tensor of type " + getClass().getSimpleName() + " cannot return data as " + kind + " array.");
  }

  /** Returns the elements of a torch.int8 tensor, or the integers of a torch.qint8 tensor. */
  public byte[] getDataAsByteArray() {
    throw cannot("byte");
  }

  /** Returns the elements of a torch.uint8 tensor, or the integers of a torch.quint8 tensor. */
  public byte[] getDataAsUnsignedByteArray() {
    throw cannot("byte");
  }

  /** Returns the elements of a torch.int32 tensor, or the integers of a torch.qint32 tensor. */
  public int[] getDataAsIntArray() {
    throw cannot("int");
  }

  /** Returns the elements of a torch.float32 tensor, or those of a torch.float16 or torch.bfloat16 tensor as floats. */
  public float[] getDataAsFloatArray() {
    throw cannot("float");
  }

  /** Returns the elements of a torch.int64 tensor. */
  public long[] getDataAsLongArray() {
    throw cannot("long");
  }

  /** Returns the elements of a torch.float64 tensor. */
  public double[] getDataAsDoubleArray() {
    throw cannot("double");
  }

  /** Returns the elements of a torch.bool tensor. */
  public boolean[] getDataAsBooleanArray() {
    throw cannot("boolean");
  }

  /**
   * Returns the elements of a torch.int16 tensor, or the bits of the elements of a torch.float16 or torch.bfloat16
   * tensor.
   */
  public short[] getDataAsShortArray() {
    throw cannot("short");
  }

  /**
   * Returns the scale of a quantized tensor: real = scale × (integer − zero point). Returns 0 for quantization per
   * channel.
   */
  public double quantizationScale() {
    throw new IllegalStateException("Tensor of type " + getClass().getSimpleName() + " is not quantized.");
  }

  /** Returns the zero point of a quantized tensor; see {@link #quantizationScale}. */
  public long quantizationZeroPoint() {
    throw new IllegalStateException("Tensor of type " + getClass().getSimpleName() + " is not quantized.");
  }

  @Override
  public String toString() {
    return "Tensor(" + Arrays.toString(shape) + ", dtype=" + mType + ")";
  }

  /** Allocates a Java array. Throws a RuntimeException, not an Error, if the heap has no room for the array. */
  private static Object newArray(Class<?> type, int length) {
    try {
      return java.lang.reflect.Array.newInstance(type, length);
    } catch (OutOfMemoryError e) {
      throw new RuntimeException("Not enough memory for an array of " + length + " elements", e);
    }
  }

  static class Tensor_uint8 extends Tensor {
    private final ByteBuffer data;

    private Tensor_uint8(Parts parts) {
      super(parts, ScalarType.UINT8);
      data = (ByteBuffer) parts.typed;
    }

    @Override
    public byte[] getDataAsUnsignedByteArray() {
      final ByteBuffer all = data.duplicate();
      all.rewind();
      final byte[] array = (byte[]) newArray(byte.class, all.remaining());
      all.get(array);
      return array;
    }
  }

  static class Tensor_int8 extends Tensor {
    private final ByteBuffer data;

    private Tensor_int8(Parts parts) {
      super(parts, ScalarType.INT8);
      data = (ByteBuffer) parts.typed;
    }

    @Override
    public byte[] getDataAsByteArray() {
      final ByteBuffer all = data.duplicate();
      all.rewind();
      final byte[] array = (byte[]) newArray(byte.class, all.remaining());
      all.get(array);
      return array;
    }
  }

  static class Tensor_int32 extends Tensor {
    private final IntBuffer data;

    private Tensor_int32(Parts parts) {
      super(parts, ScalarType.INT32);
      data = (IntBuffer) parts.typed;
    }

    @Override
    public int[] getDataAsIntArray() {
      final IntBuffer all = data.duplicate();
      all.rewind();
      final int[] array = (int[]) newArray(int.class, all.remaining());
      all.get(array);
      return array;
    }
  }

  static class Tensor_float32 extends Tensor {
    private final FloatBuffer data;

    private Tensor_float32(Parts parts) {
      super(parts, ScalarType.FLOAT32);
      data = (FloatBuffer) parts.typed;
    }

    @Override
    public float[] getDataAsFloatArray() {
      final FloatBuffer all = data.duplicate();
      all.rewind();
      final float[] array = (float[]) newArray(float.class, all.remaining());
      all.get(array);
      return array;
    }
  }

  static class Tensor_int64 extends Tensor {
    private final LongBuffer data;

    private Tensor_int64(Parts parts) {
      super(parts, ScalarType.INT64);
      data = (LongBuffer) parts.typed;
    }

    @Override
    public long[] getDataAsLongArray() {
      final LongBuffer all = data.duplicate();
      all.rewind();
      final long[] array = (long[]) newArray(long.class, all.remaining());
      all.get(array);
      return array;
    }
  }

  static class Tensor_float64 extends Tensor {
    private final DoubleBuffer data;

    private Tensor_float64(Parts parts) {
      super(parts, ScalarType.FLOAT64);
      data = (DoubleBuffer) parts.typed;
    }

    @Override
    public double[] getDataAsDoubleArray() {
      final DoubleBuffer all = data.duplicate();
      all.rewind();
      final double[] array = (double[]) newArray(double.class, all.remaining());
      all.get(array);
      return array;
    }
  }

  static class Tensor_bool extends Tensor {
    private Tensor_bool(Parts parts) {
      super(parts, ScalarType.BOOL);
    }

    @Override
    public boolean[] getDataAsBooleanArray() {
      final ByteBuffer all = limited();
      final boolean[] array = (boolean[]) newArray(boolean.class, all.remaining());
      for (int i = 0; i < array.length; i++) {
        array[i] = all.get(i) != 0;
      }
      return array;
    }
  }

  /** A tensor with elements of two bytes. */
  private abstract static class Tensor_2bytes extends Tensor {
    private Tensor_2bytes(Parts parts, ScalarType type) {
      super(parts, type);
    }

    @Override
    public short[] getDataAsShortArray() {
      final ShortBuffer all = limited().asShortBuffer();
      final short[] array = (short[]) newArray(short.class, all.remaining());
      all.get(array);
      return array;
    }

    float[] asFloats(boolean brain) {
      final short[] bits = getDataAsShortArray();
      final float[] array = (float[]) newArray(float.class, bits.length);
      for (int i = 0; i < array.length; i++) {
        array[i] = brain ? Float.intBitsToFloat(bits[i] << 16) : ofHalf(bits[i]);
      }
      return array;
    }

    private static float ofHalf(short bits) {
      final int magnitude = bits & 0x7fff;
      final int sign = (bits & 0x8000) << 16;
      if (magnitude >= 0x7c00) { // infinity or NaN
        return Float.intBitsToFloat(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
      }
      // The bias of the exponent is 112 less than in float32. Multiplying by 2^112 corrects it, also for subnormals.
      final float value = Float.intBitsToFloat(magnitude << 13) * 0x1p112f;
      return Float.intBitsToFloat(Float.floatToRawIntBits(value) | sign);
    }
  }

  static class Tensor_int16 extends Tensor_2bytes {
    private Tensor_int16(Parts parts) {
      super(parts, ScalarType.INT16);
    }
  }

  static class Tensor_float16 extends Tensor_2bytes {
    private Tensor_float16(Parts parts) {
      super(parts, ScalarType.FLOAT16);
    }

    @Override
    public float[] getDataAsFloatArray() {
      return asFloats(false);
    }
  }

  static class Tensor_bfloat16 extends Tensor_2bytes {
    private Tensor_bfloat16(Parts parts) {
      super(parts, ScalarType.BFLOAT16);
    }

    @Override
    public float[] getDataAsFloatArray() {
      return asFloats(true);
    }
  }

  /** A tensor of complex or quantized numbers. */
  static class Tensor_other extends Tensor {
    private final double scale;
    private final long zeroPoint;

    private Tensor_other(ScalarType type, Parts parts) {
      super(parts, type);
      this.scale = parts.scale;
      this.zeroPoint = parts.zeroPoint;
    }

    private byte[] bytes() {
      final ByteBuffer all = limited();
      final byte[] array = (byte[]) newArray(byte.class, all.remaining());
      all.get(array);
      return array;
    }

    @Override
    public byte[] getDataAsByteArray() {
      return scalarType() == ScalarType.QINT8 ? bytes() : super.getDataAsByteArray();
    }

    @Override
    public byte[] getDataAsUnsignedByteArray() {
      return scalarType() == ScalarType.QUINT8 ? bytes() : super.getDataAsUnsignedByteArray();
    }

    @Override
    public int[] getDataAsIntArray() {
      if (scalarType() != ScalarType.QINT32) {
        return super.getDataAsIntArray();
      }
      final IntBuffer all = limited().asIntBuffer();
      final int[] array = (int[]) newArray(int.class, all.remaining());
      all.get(array);
      return array;
    }

    @Override
    public double quantizationScale() {
      return scalarType().isQuantized() ? scale : super.quantizationScale();
    }

    @Override
    public long quantizationZeroPoint() {
      return scalarType().isQuantized() ? zeroPoint : super.quantizationZeroPoint();
    }
  }

  // ---- checks

  private static void checkArgument(boolean expression, String errorMessage, Object... args) {
    if (!expression) {
      throw new IllegalArgumentException(String.format(Locale.US, errorMessage, args));
    }
  }

  private static void checkShape(long[] shape) {
    checkArgument(shape != null, ERROR_MSG_SHAPE_NOT_NULL);
    for (long size : shape) {
      checkArgument(size >= 0, ERROR_MSG_SHAPE_NON_NEGATIVE);
    }
  }

  private static void check(int capacity, long[] shape, MemoryFormat memoryFormat) {
    final long elements = numel(shape);
    checkArgument(
        elements == capacity,
        "Inconsistent data capacity:%d and shape number elements:%d shape:%s",
        capacity,
        elements,
        Arrays.toString(shape));
    checkArgument(memoryFormat != null, "Memory format must be not null");
  }

  private static void checkBuffer(boolean direct, ByteOrder order) {
    checkArgument(direct, ERROR_MSG_DATA_BUFFER_MUST_BE_DIRECT);
    checkArgument(order == ByteOrder.nativeOrder(), ERROR_MSG_DATA_BUFFER_MUST_HAVE_NATIVE_BYTE_ORDER);
  }
}
