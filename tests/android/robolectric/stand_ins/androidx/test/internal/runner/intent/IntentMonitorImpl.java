// SPDX-License-Identifier: BSD-2-Clause
package androidx.test.internal.runner.intent;

public final class IntentMonitorImpl implements androidx.test.runner.intent.IntentMonitor {
  public void signalIntent(android.content.Intent intent) {}
}
