// SPDX-License-Identifier: BSD-2-Clause
// Replaces the Android class, so that the tutorials' code runs on a desktop. The app's files are in the folder -Dfiles.
package android.content;

import android.content.res.AssetManager;
import java.io.File;

public class Context {
  public AssetManager getAssets() {
    return new AssetManager();
  }

  public File getFilesDir() {
    return new File(System.getProperty("files"));
  }
}
