// SPDX-License-Identifier: BSD-2-Clause
package org.pytorch;

/** The order of the elements of a {@link Tensor} in memory. */
public enum MemoryFormat {
  /** The last dimension is dense. */
  CONTIGUOUS(1),
  /** Four dimensions, stored as N, H, W, C. The second dimension, C, is dense. */
  CHANNELS_LAST(2),
  /** Five dimensions, stored as N, D, H, W, C. The second dimension, C, is dense. */
  CHANNELS_LAST_3D(3);

  final int jniCode;

  MemoryFormat(int jniCode) {
    this.jniCode = jniCode;
  }

  static MemoryFormat ofCode(int code) {
    return code == 2 ? CHANNELS_LAST : code == 3 ? CHANNELS_LAST_3D : CONTIGUOUS;
  }
}
