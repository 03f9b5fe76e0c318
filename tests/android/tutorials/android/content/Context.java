// SPDX-License-Identifier: BSD-2-Clause
// Stands for the platform's class where the tutorials' code runs on a desktop: an app's files are in -Dfiles.
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
