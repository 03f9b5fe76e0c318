// SPDX-License-Identifier: BSD-2-Clause
package org.pytorch;

/** The native part of a {@link Module}. */
interface INativePeer {
  void resetNative();

  IValue forward(IValue... inputs);

  IValue runMethod(String methodName, IValue... inputs);
}
