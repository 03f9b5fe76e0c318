// SPDX-License-Identifier: BSD-2-Clause
// Tests how the native library is found. Each of these classes runs in a separate process with its own library path.

import com.facebook.soloader.nativeloader.NativeLoader;
import com.facebook.soloader.nativeloader.SystemDelegate;
import org.pytorch.Module;
import org.pytorch.PyTorchCodegenLoader;

final class LibraryTest {
  /** The library is not on the path: each call throws the JVM's own error. */
  static final class Missing {
    static void missing() {
      for (int i = 0; i < 3; i++) {
        try {
          Module.load("x");
        } catch (UnsatisfiedLinkError e) {
          continue;
        }
        throw new AssertionError("no error");
      }
      PyTorchCodegenLoader.loadNativeLibs(); // must never fail
    }
  }

  /** Loads the native library under each name by which apps load it. */
  static final class ByName {
    static void byName() {
      if (!NativeLoader.isInitialized()) {
        NativeLoader.init(new SystemDelegate());
      }
      for (String name : new String[] {"torchvision_ops", "pytorch_jni_lite", "pytorch_jni", "pytorch_jni"}) {
        System.loadLibrary(name);
      }
      SampleTest.everyFileOfANetwork();
    }
  }

  private LibraryTest() {}
}
