// SPDX-License-Identifier: BSD-2-Clause
// What the bindings use of a class that the app's platform has: to compile against, never packaged.
package com.facebook.soloader.nativeloader;

public class NativeLoader {
  public static boolean isInitialized() {
    return false;
  }

  public static void init(NativeLoaderDelegate delegate) {}

  public static boolean loadLibrary(String name) {
    System.loadLibrary(name); // for tests
    return true;
  }
}
