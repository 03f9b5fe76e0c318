// SPDX-License-Identifier: BSD-2-Clause
package androidx.test.runner.lifecycle;

public enum Stage {
  PRE_ON_CREATE,
  CREATED,
  STARTED,
  RESUMED,
  PAUSED,
  STOPPED,
  RESTARTED,
  DESTROYED
}
