// SPDX-License-Identifier: BSD-2-Clause
// Stands in for the platform's class to run the tutorials' code on a desktop: the app's files are in -Dfiles.
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
