// SPDX-License-Identifier: BSD-2-Clause
package org.pytorch;

/**
 * Data types of {@link Tensor} elements. The enum will always have exactly PyTorch Mobile's six types, so that a
 * switch or a when over all of them stays complete. {@link ScalarType} has all types.
 */
public enum DType {
  // Native code uses the same numbers for these types.
  /** torch.uint8 */
  UINT8(1),
  /** torch.int8 */
  INT8(2),
  /** torch.int32 */
  INT32(3),
  /** torch.float32 */
  FLOAT32(4),
  /** torch.int64 */
  INT64(5),
  /** torch.float64 */
  FLOAT64(6);

  final int jniCode;

  DType(int jniCode) {
    this.jniCode = jniCode;
  }
}
