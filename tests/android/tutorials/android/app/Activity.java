// SPDX-License-Identifier: BSD-2-Clause
// Replaces the Android class, so that the tutorials' code runs on a desktop.
package android.app;

public class Activity extends android.content.Context {
  public android.content.Context getApplicationContext() {
    return this;
  }
}
