// SPDX-License-Identifier: BSD-2-Clause
package androidx.test.runner.lifecycle;

public final class ApplicationLifecycleMonitorRegistry {
  private ApplicationLifecycleMonitorRegistry() {}

  public static void registerInstance(ApplicationLifecycleMonitor monitor) {}
}
