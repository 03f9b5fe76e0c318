// SPDX-License-Identifier: BSD-2-Clause
package androidx.test.runner.lifecycle;

public enum ApplicationStage {
  PRE_ON_CREATE,
  CREATED
}
