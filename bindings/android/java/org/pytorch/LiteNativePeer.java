// SPDX-License-Identifier: BSD-2-Clause
package org.pytorch;

import android.content.res.AssetManager;
import java.util.Map;

/** The peer of {@link LiteModuleLoader}: there is one runtime for both kinds of files. */
class LiteNativePeer extends NativePeer {
  LiteNativePeer(String moduleAbsolutePath, Map<String, String> extraFiles, Device device) {
    super(moduleAbsolutePath, extraFiles, device);
  }

  LiteNativePeer(String assetName, AssetManager assetManager, Device device) {
    super(assetName, assetManager, device);
  }
}
