// SPDX-License-Identifier: BSD-2-Clause
package androidx.test.runner.intent;

public interface IntentMonitor {}
