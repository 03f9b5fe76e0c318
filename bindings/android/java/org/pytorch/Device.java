// SPDX-License-Identifier: BSD-2-Clause
package org.pytorch;

/** Where a module runs. A device that a phone or this library does not have is the CPU, with a line in the log. */
public enum Device {
  CPU(1, "cpu"),
  VULKAN(2, "vulkan");

  final int jniCode;
  final String nativeName;

  Device(int jniCode, String nativeName) {
    this.jniCode = jniCode;
    this.nativeName = nativeName;
  }
}
