// SPDX-License-Identifier: BSD-2-Clause
// Stands in for the platform's class to run the tutorials' code on a desktop.
package android.app;

public class Activity extends android.content.Context {
  public android.content.Context getApplicationContext() {
    return this;
  }
}
