// SPDX-License-Identifier: BSD-2-Clause
package org.pytorch;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;

/**
 * Gives native memory back when the Java object that stands for it is gone: one queue, one thread. The collector does
 * not see native memory; so when much of it hangs on Java objects, this asks for a collection.
 */
final class Reclaimer extends PhantomReference<Object> {
  /** What may hang on objects before the first collection is asked for, besides a few of the largest. */
  private static final long SLACK = 4 << 20;

  private static final int LARGEST = 4;

  private static final ReferenceQueue<Object> QUEUE = new ReferenceQueue<Object>();
  private static final Object LOCK = new Object();
  // All under LOCK.
  private static Reclaimer first;
  private static long held;
  private static long limit = SLACK;
  private static long largest;
  private static boolean collecting;

  private final boolean module;
  private long handle; // 0: given back. Under LOCK.
  private final long bytes;
  private Reclaimer next;
  private Reclaimer previous;

  static {
    Thread thread =
        new Thread("taper-reclaimer") {
          @Override
          public void run() {
            while (true) {
              try {
                ((Reclaimer) QUEUE.remove()).release();
              } catch (InterruptedException e) {
                // Nobody has a reason to.
              } catch (RuntimeException e) {
                // The next one may fare better.
              }
            }
          }
        };
    thread.setDaemon(true);
    thread.setPriority(Thread.MAX_PRIORITY - 2);
    thread.start();
  }

  private Reclaimer(Object owner, boolean module, long handle, long bytes) {
    super(owner, QUEUE);
    this.module = module;
    this.handle = handle;
    this.bytes = bytes;
  }

  static Reclaimer ofModule(Object owner, long handle) {
    return add(new Reclaimer(owner, true, handle, 0));
  }

  /** owner: what all that reads the value's memory hangs on. */
  static void ofValue(Object owner, long handle, long bytes) {
    add(new Reclaimer(owner, false, handle, bytes));
    collectIfMuch();
  }

  private static Reclaimer add(Reclaimer r) {
    synchronized (LOCK) {
      r.next = first;
      if (first != null) {
        first.previous = r;
      }
      first = r;
      held += r.bytes;
      largest = Math.max(largest, r.bytes);
    }
    return r;
  }

  /** Gives back, once. */
  void release() {
    long released;
    synchronized (LOCK) {
      released = handle;
      handle = 0;
      if (released == 0) {
        return;
      }
      if (previous != null) {
        previous.next = next;
      } else {
        first = next;
      }
      if (next != null) {
        next.previous = previous;
      }
      held -= bytes;
    }
    clear();
    if (module) {
      NativeLibrary.releaseModule(released);
    } else {
      NativeLibrary.releaseValue(released);
    }
  }

  /** What an app keeps on purpose doubles the limit, so that collections stay rare. */
  private static void collectIfMuch() {
    synchronized (LOCK) {
      if (held <= limit + LARGEST * largest || collecting) {
        return;
      }
      collecting = true;
    }
    System.gc();
    try {
      // The collector hands dead references over in a thread of its own.
      for (int i = 0; i < 20; i++) {
        synchronized (LOCK) {
          if (held <= limit / 2) {
            break;
          }
        }
        Thread.sleep(1);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    synchronized (LOCK) {
      limit = Math.max(SLACK, 2 * held);
      collecting = false;
    }
  }
}
