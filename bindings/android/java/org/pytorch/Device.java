// SPDX-License-Identifier: BSD-2-Clause
package org.pytorch;

/**
 * The device of a module. If the phone or this library does not support the device, the module runs on the CPU, and one
 * line in the log says so.
 */
public enum Device {
  /** The CPU. A file converted for NNAPI runs on NNAPI, as in PyTorch Mobile (PyTorchAndroid.setNnapiEnabled). */
  CPU(1, "cpu"),
  /** The first GPU that Vulkan finds. It runs any model, with or without preparation for Vulkan. */
  VULKAN(2, "vulkan");

  final int jniCode;
  final String nativeName;

  Device(int jniCode, String nativeName) {
    this.jniCode = jniCode;
    this.nativeName = nativeName;
  }
}
