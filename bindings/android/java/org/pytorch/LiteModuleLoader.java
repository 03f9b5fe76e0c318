// SPDX-License-Identifier: BSD-2-Clause
package org.pytorch;

import android.content.res.AssetManager;
import java.util.Map;

/** Loads models. Taper has one runtime: .ptl and .pt files can be loaded here and with {@link Module#load(String)}. */
public class LiteModuleLoader {

  /** Works like {@link Module#load(String, Map, Device)}. */
  public static Module load(
      final String modelPath, final Map<String, String> extraFiles, final Device device) {
    return new Module(new LiteNativePeer(modelPath, extraFiles, device));
  }

  /** Works like {@link Module#load(String)}. */
  public static Module load(final String modelPath) {
    return load(modelPath, null, Device.CPU);
  }

  /** Loads a model from an app's assets. */
  public static Module loadModuleFromAsset(
      final AssetManager assetManager, final String assetName, final Device device) {
    return new Module(new LiteNativePeer(assetName, assetManager, device));
  }

  /** Loads a model from an app's assets, to run on the CPU. */
  public static Module loadModuleFromAsset(final AssetManager assetManager, final String assetName) {
    return loadModuleFromAsset(assetManager, assetName, Device.CPU);
  }
}
