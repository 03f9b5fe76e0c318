// SPDX-License-Identifier: BSD-2-Clause
package androidx.test.runner.intent;

public interface IntentStubber {
  android.app.Instrumentation.ActivityResult getActivityResultForIntent(android.content.Intent intent);
}
