// SPDX-License-Identifier: BSD-2-Clause
package org.pytorch;

/** The order in which the elements of a {@link Tensor} lie in memory. */
public enum MemoryFormat {
  /** The last dimension is dense. */
  CONTIGUOUS(1),
  /** Four dimensions, the second of which is dense: N, H, W, C in memory. */
  CHANNELS_LAST(2),
  /** Five dimensions, the second of which is dense: N, D, H, W, C in memory. */
  CHANNELS_LAST_3D(3);

  final int jniCode;

  MemoryFormat(int jniCode) {
    this.jniCode = jniCode;
  }

  static MemoryFormat ofCode(int code) {
    return code == 2 ? CHANNELS_LAST : code == 3 ? CHANNELS_LAST_3D : CONTIGUOUS;
  }
}
