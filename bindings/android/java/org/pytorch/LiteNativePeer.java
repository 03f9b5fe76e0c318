// SPDX-License-Identifier: BSD-2-Clause
package org.pytorch;

import android.content.res.AssetManager;
import java.util.Map;

/** The native part of a module of {@link LiteModuleLoader}. Taper has one runtime for both kinds of files. */
class LiteNativePeer extends NativePeer {
  LiteNativePeer(String moduleAbsolutePath, Map<String, String> extraFiles, Device device) {
    super(moduleAbsolutePath, extraFiles, device);
  }

  LiteNativePeer(String assetName, AssetManager assetManager, Device device) {
    super(assetName, assetManager, device);
  }
}
