// SPDX-License-Identifier: BSD-2-Clause
package org.pytorch;

import android.content.res.AssetManager;
import java.io.File;

/** Loads models from an app's assets and sets the number of threads of all models. */
public final class LitePyTorchAndroid {

  /** Loads a model from an app's assets. */
  public static Module loadModuleFromAsset(
      final AssetManager assetManager, final String assetName, final Device device) {
    return new Module(new NativePeer(assetName, assetManager, device));
  }

  /** Loads a model from an app's assets, to run on the CPU. */
  public static Module loadModuleFromAsset(final AssetManager assetManager, final String assetName) {
    return loadModuleFromAsset(assetManager, assetName, Device.CPU);
  }

  /**
   * Sets the number of threads that run models, including the calling thread. This applies to all models, also to those
   * already loaded. The default is the number of the phone's large cores.
   *
   * @param numThreads at least 1; more than 64 is treated as 64
   */
  public static void setNumThreads(int numThreads) {
    if (numThreads < 1) {
      throw new IllegalArgumentException("Number of threads cannot be less than 1");
    }
    NativeLibrary.load();
    NativeLibrary.setNumThreads(numThreads);
  }

  /**
   * Sets a directory where models that are loaded from now on cache data, mainly packed weights, so that loading takes
   * a fraction of the usual time when the app starts again. Each model has one file, about as large as the model, which
   * a background thread writes after the first runs. The files may be deleted at any time. New in Taper.
   *
   * @param directory an existing directory of the app, such as {@code context.getCacheDir()}
   */
  public static void setCacheDir(File directory) {
    NativeLibrary.load();
    NativeLibrary.setCacheDir(directory.getPath());
  }

  /**
   * For files converted for NNAPI, selects the device of the models that are loaded from now on. With true, the default
   * as in PyTorch Mobile, the models run on NNAPI if the phone has it; with false they run on the CPU. New in Taper.
   */
  public static void setNnapiEnabled(boolean enabled) {
    NativeLibrary.load();
    NativeLibrary.setNnapiEnabled(enabled);
  }
}
