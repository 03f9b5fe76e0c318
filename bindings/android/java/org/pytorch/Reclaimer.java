// SPDX-License-Identifier: BSD-2-Clause
package org.pytorch;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;

/**
 * Gives native memory back when the Java object that stands for it is gone: one queue, one thread. The collector does
 * not see native memory; so when much of it hangs on Java objects, this asks for a collection.
 */
final class Reclaimer extends PhantomReference<Object> {
  /** What hangs on the objects of one kind. All under LOCK. */
  private static final class Account {
    final long slack; // so much may hang on them before the first collection is asked for, besides some of the largest
    final int most;
    final long room; // many of the largest fit until then
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
  // All under LOCK.
  private static Reclaimer first;
  private static boolean collecting;

  private final Account account;
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
                giveBack(QUEUE.remove());
              } catch (InterruptedException e) {
                // Nobody has a reason to.
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

  /** owner: what all that reads the value's memory hangs on. */
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
      // The next one may fare better.
    }
  }

  /** What an app keeps on purpose doubles the limit, so that collections stay rare. */
  private static void collectIfMuch(Account account) {
    synchronized (LOCK) {
      if (!account.isMuch() || collecting) {
        return;
      }
      collecting = true;
    }
    System.gc();
    try {
      // The collector hands dead references over in a thread of its own, which gets its turn late on a busy machine: then
      // what is dead must not count as kept. They are given back here, not waiting for the thread of the queue as well.
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
