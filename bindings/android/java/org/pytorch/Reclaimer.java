// SPDX-License-Identifier: BSD-2-Clause
package org.pytorch;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;

/**
 * Frees native memory after its Java object became unreachable, with one queue and one thread. The garbage collector
 * does not count native memory. If Java objects keep much native memory, this class requests a collection.
 */
final class Reclaimer extends PhantomReference<Object> {
  /** The native memory kept by the objects of one kind. Guarded by LOCK. */
  private static final class Account {
    // The number of bytes that may be kept before the first collection is requested. isMuch() adds further bytes to
    // this limit.
    final long slack;
    // isMuch() adds the larger of two numbers of bytes: `most` objects of the largest size seen so far, or 32 such
    // objects but at most `room` bytes.
    final int most;
    // Limit on the bytes of the 32 objects that isMuch() adds.
    final long room;
    long held;
    long limit;
    long largest;

    Account(long slack, int most, long room) {
      this.slack = slack;
      this.most = most;
      this.room = room;
      this.limit = slack;
    }

    boolean isMuch() {
      return held > limit + Math.max(most * largest, Math.min(32 * largest, room));
    }
  }

  private static final Account VALUES = new Account(3 << 20, 4, 24 << 20);
  private static final Account MODULES = new Account(32 << 20, 0, 0);
  private static final ReferenceQueue<Object> QUEUE = new ReferenceQueue<Object>();
  private static final Object LOCK = new Object();
  // The members below are guarded by LOCK.
  private static Reclaimer first;
  private static boolean collecting;

  private final Account account;
  private long handle; // 0 after release; guarded by LOCK
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
                giveBack(QUEUE.remove());
              } catch (InterruptedException e) {
                // The thread is never interrupted on purpose.
              }
            }
          }
        };
    thread.setDaemon(true);
    thread.setPriority(Thread.MAX_PRIORITY - 2);
    thread.start();
  }

  private Reclaimer(Object owner, Account account, long handle, long bytes) {
    super(owner, QUEUE);
    this.account = account;
    this.handle = handle;
    this.bytes = bytes;
  }

  static Reclaimer ofModule(Object owner, long handle, long bytes) {
    final Reclaimer r = add(new Reclaimer(owner, MODULES, handle, bytes));
    collectIfMuch(MODULES);
    return r;
  }

  /** Releases the value after {@code owner} is unreachable. Each object that reads the value's memory must be
   * {@code owner}, or refer to it. */
  static void ofValue(Object owner, long handle, long bytes) {
    add(new Reclaimer(owner, VALUES, handle, bytes));
    collectIfMuch(VALUES);
  }

  private static Reclaimer add(Reclaimer r) {
    synchronized (LOCK) {
      r.next = first;
      if (first != null) {
        first.previous = r;
      }
      first = r;
      r.account.held += r.bytes;
      r.account.largest = Math.max(r.account.largest, r.bytes);
    }
    return r;
  }

  /** Releases the native object; later calls do nothing. */
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
      account.held -= bytes;
    }
    clear();
    if (account == MODULES) {
      NativeLibrary.releaseModule(released);
    } else {
      NativeLibrary.releaseValue(released);
    }
  }

  private static void giveBack(Object dead) {
    try {
      ((Reclaimer) dead).release();
    } catch (RuntimeException e) {
      // An error of one release must not prevent other releases.
    }
  }

  /**
   * Requests a collection if much memory is kept. Memory that an app keeps on purpose doubles the limit, which
   * keeps collections rare.
   */
  private static void collectIfMuch(Account account) {
    synchronized (LOCK) {
      if (!account.isMuch() || collecting) {
        return;
      }
      collecting = true;
    }
    System.gc();
    try {
      // The collector hands over dead references in a thread of its own, which may be delayed on a busy machine. Dead
      // objects must not count as kept meanwhile. They are released here, without waiting for the thread of the queue.
      for (int i = 0; i < 60; i++) {
        for (Object dead = QUEUE.poll(); dead != null; dead = QUEUE.poll()) {
          giveBack(dead);
        }
        synchronized (LOCK) {
          if (account.held <= account.limit / 2) {
            break;
          }
        }
        Thread.sleep(1);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    synchronized (LOCK) {
      account.limit = Math.max(account.slack, 2 * account.held);
      collecting = false;
    }
  }
}
