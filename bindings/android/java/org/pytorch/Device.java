// SPDX-License-Identifier: BSD-2-Clause
package org.pytorch;

/**
 * Where a module runs. If the phone or this library does not have the device, the CPU runs the module and the log says so
 * in one line.
 */
public enum Device {
  /** The CPU; for a file that was converted for NNAPI that, as in PyTorch Mobile (PyTorchAndroid.setNnapiEnabled). */
  CPU(1, "cpu"),
  /** The first GPU that Vulkan finds. It runs any model, whether the file was prepared for Vulkan or not. */
  VULKAN(2, "vulkan");

  final int jniCode;
  final String nativeName;

  Device(int jniCode, String nativeName) {
    this.jniCode = jniCode;
    this.nativeName = nativeName;
  }
}
