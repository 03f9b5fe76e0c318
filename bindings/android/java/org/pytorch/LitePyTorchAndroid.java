// SPDX-License-Identifier: BSD-2-Clause
package org.pytorch;

import android.content.res.AssetManager;
import java.io.File;

/** Models among an app's assets, and the threads that models run with. */
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
   * Sets with how many threads models run, the caller's included: all models, those that are loaded already and those
   * that will be. Without it they are as many as the phone has large cores.
   *
   * @param numThreads at least 1; of more than 64, 64
   */
  public static void setNumThreads(int numThreads) {
    if (numThreads < 1) {
      throw new IllegalArgumentException("Number of threads cannot be less than 1");
    }
    NativeLibrary.load();
    NativeLibrary.setNumThreads(numThreads);
  }

  /**
   * Lets models that are loaded from now on keep there what takes long to make on this phone, packed weights above all:
   * a file for each model, about as large as it, written by a thread after the first runs. When the app starts again,
   * loading takes a fraction of the time. The files may be deleted at any time. New in Taper.
   *
   * @param directory one of the app's own, such as {@code context.getCacheDir()}; it must exist
   */
  public static void setCacheDir(File directory) {
    NativeLibrary.load();
    NativeLibrary.setCacheDir(directory.getPath());
  }

  /**
   * Whether models that are loaded from now on, and whose files were converted for NNAPI, run on NNAPI where the phone has
   * it, as in PyTorch Mobile. That is so without this method; with false the CPU runs them. New in Taper.
   */
  public static void setNnapiEnabled(boolean enabled) {
    NativeLibrary.load();
    NativeLibrary.setNnapiEnabled(enabled);
  }
}
