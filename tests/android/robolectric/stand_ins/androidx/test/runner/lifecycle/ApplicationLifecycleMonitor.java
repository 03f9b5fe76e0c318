// SPDX-License-Identifier: BSD-2-Clause
package androidx.test.runner.lifecycle;

public interface ApplicationLifecycleMonitor {}
