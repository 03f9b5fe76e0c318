// SPDX-License-Identifier: BSD-2-Clause
package androidx.test.internal.runner.lifecycle;

import android.app.Activity;
import androidx.test.runner.lifecycle.ActivityLifecycleMonitor;
import androidx.test.runner.lifecycle.Stage;
import java.util.HashMap;
import java.util.Map;

public final class ActivityLifecycleMonitorImpl implements ActivityLifecycleMonitor {
  private final Map<Activity, Stage> stages = new HashMap<>();

  @Override
  public Stage getLifecycleStageOf(Activity activity) {
    return stages.get(activity);
  }

  public void signalLifecycleChange(Stage stage, Activity activity) {
    stages.put(activity, stage);
  }
}
