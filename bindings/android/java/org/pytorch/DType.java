// SPDX-License-Identifier: BSD-2-Clause
package org.pytorch;

/** Data types of {@link Tensor} elements. */
public enum DType {
  // The codes are those of native code; 1 to 6 are as they always were.
  /** torch.uint8 */
  UINT8(1, 1),
  /** torch.int8 */
  INT8(2, 1),
  /** torch.int32 */
  INT32(3, 4),
  /** torch.float32 */
  FLOAT32(4, 4),
  /** torch.int64 */
  INT64(5, 8),
  /** torch.float64 */
  FLOAT64(6, 8),
  /** torch.int16 */
  INT16(7, 2),
  /** torch.float16: the bits of each element are those of a short. */
  FLOAT16(8, 2),
  /** torch.bfloat16: the bits of each element are those of a short. */
  BFLOAT16(9, 2),
  /** torch.bool: a byte each, 0 or 1. */
  BOOL(10, 1),
  /** torch.complex64: pairs of floats. */
  COMPLEX64(11, 8),
  /** torch.complex128: pairs of doubles. */
  COMPLEX128(12, 16),
  /** torch.complex32: pairs of float16. */
  COMPLEX32(13, 4),
  /** torch.qint8, in results alone. */
  QINT8(14, 1),
  /** torch.quint8, in results alone. */
  QUINT8(15, 1),
  /** torch.qint32, in results alone. */
  QINT32(16, 4);

  final int jniCode;
  final int bytes;

  DType(int jniCode, int bytes) {
    this.jniCode = jniCode;
    this.bytes = bytes;
  }

  private static final DType[] BY_CODE = new DType[17];

  static {
    for (DType t : values()) {
      BY_CODE[t.jniCode] = t;
    }
  }

  static DType ofCode(int code) {
    return BY_CODE[code];
  }
}
