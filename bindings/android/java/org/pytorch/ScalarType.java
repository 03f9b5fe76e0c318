// SPDX-License-Identifier: BSD-2-Clause
package org.pytorch;

/**
 * Every type of {@link Tensor} elements. The constants may be compared with ==. This is a class and not an enum,
 * because more constants will be added.
 */
public final class ScalarType {
  /** torch.uint8 */
  public static final ScalarType UINT8 = new ScalarType("uint8", 1, 1, DType.UINT8);
  /** torch.int8 */
  public static final ScalarType INT8 = new ScalarType("int8", 2, 1, DType.INT8);
  /** torch.int32 */
  public static final ScalarType INT32 = new ScalarType("int32", 3, 4, DType.INT32);
  /** torch.float32 */
  public static final ScalarType FLOAT32 = new ScalarType("float32", 4, 4, DType.FLOAT32);
  /** torch.int64 */
  public static final ScalarType INT64 = new ScalarType("int64", 5, 8, DType.INT64);
  /** torch.float64 */
  public static final ScalarType FLOAT64 = new ScalarType("float64", 6, 8, DType.FLOAT64);
  /** torch.int16 */
  public static final ScalarType INT16 = new ScalarType("int16", 7, 2, null);
  /** torch.float16; an element is a short with its bits */
  public static final ScalarType FLOAT16 = new ScalarType("float16", 8, 2, null);
  /** torch.bfloat16; an element is a short with its bits */
  public static final ScalarType BFLOAT16 = new ScalarType("bfloat16", 9, 2, null);
  /** torch.bool; an element is a byte, 0 or 1 */
  public static final ScalarType BOOL = new ScalarType("bool", 10, 1, null);
  /** torch.complex64; an element is a pair of floats */
  public static final ScalarType COMPLEX64 = new ScalarType("complex64", 11, 8, null);
  /** torch.complex128; an element is a pair of doubles */
  public static final ScalarType COMPLEX128 = new ScalarType("complex128", 12, 16, null);
  /** torch.complex32; an element is a pair of float16 */
  public static final ScalarType COMPLEX32 = new ScalarType("complex32", 13, 4, null);
  /** torch.qint8, only in results */
  public static final ScalarType QINT8 = new ScalarType("qint8", 14, 1, null);
  /** torch.quint8, only in results */
  public static final ScalarType QUINT8 = new ScalarType("quint8", 15, 1, null);
  /** torch.qint32, only in results */
  public static final ScalarType QINT32 = new ScalarType("qint32", 16, 4, null);

  // All types; the type with jniCode c has the index c - 1.
  private static final ScalarType[] ALL = {
    UINT8, INT8, INT32, FLOAT32, INT64, FLOAT64, INT16, FLOAT16, BFLOAT16, BOOL, COMPLEX64, COMPLEX128, COMPLEX32, QINT8,
    QUINT8, QINT32
  };

  private final String name;
  final int jniCode; // number of the type in native code
  private final int bytes;
  private final DType dtype;

  private ScalarType(String name, int jniCode, int bytes, DType dtype) {
    this.name = name;
    this.jniCode = jniCode;
    this.bytes = bytes;
    this.dtype = dtype;
  }

  /** Returns all types. */
  public static ScalarType[] values() {
    return ALL.clone();
  }

  /** Returns the ScalarType of a DType. */
  public static ScalarType of(DType dtype) {
    if (dtype == null) {
      throw new IllegalArgumentException("DType must be not null");
    }
    return ofCode(dtype.jniCode);
  }

  static ScalarType ofCode(int code) {
    return ALL[code - 1];
  }

  /** Returns the DType of this type, or null if PyTorch Mobile does not have it. */
  public DType dtype() {
    return dtype;
  }

  /** Returns the number of bytes of an element. */
  public int itemsize() {
    return bytes;
  }

  /** Returns true if elements are integers with a scale and a zero point. */
  public boolean isQuantized() {
    return jniCode >= QINT8.jniCode;
  }

  /** Returns the name in Python, for example "torch.float16". */
  @Override
  public String toString() {
    return "torch." + name;
  }
}
