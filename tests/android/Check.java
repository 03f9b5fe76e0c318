// SPDX-License-Identifier: BSD-2-Clause
// Runs each static method without arguments of the named classes as a test. The last line of the output has the numbers
// of passed and failed tests.

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Comparator;

final class Check {
  /** The part of a test that must fail. */
  interface Action {
    void run() throws Exception;
  }

  static void that(boolean condition, String what) {
    if (!condition) {
      throw new AssertionError(what);
    }
  }

  static void same(Object expected, Object actual) {
    boolean equal =
        expected instanceof Object[] || (expected != null && expected.getClass().isArray())
            ? Arrays.deepEquals(new Object[] {expected}, new Object[] {actual})
            : (expected == null ? actual == null : expected.equals(actual));
    that(equal, "expected " + text(expected) + ", got " + text(actual));
  }

  private static String text(Object o) {
    String s = Arrays.deepToString(new Object[] {o});
    return s.length() > 400 ? s.substring(0, 400) + " …" : s;
  }

  /** Checks that the action throws exactly that class, with a message that contains the texts. A thrown Error is a
   * failure of the test. */
  static void fails(Class<?> type, Action action, String... texts) throws Exception {
    try {
      action.run();
    } catch (RuntimeException e) {
      that(e.getClass() == type, "expected " + type.getName() + ", got " + e);
      for (String text : texts) {
        that(String.valueOf(e.getMessage()).contains(text), "no \"" + text + "\" in: " + e.getMessage());
      }
      return;
    }
    throw new AssertionError("no exception, expected " + type.getName());
  }

  private static Method[] tests(Class<?> type) {
    Method[] all = type.getDeclaredMethods();
    Arrays.sort(all, Comparator.comparing(Method::getName));
    return all;
  }

  public static void main(String[] names) throws Exception {
    int passed = 0, failed = 0;
    for (String name : names) {
      for (Method m : tests(Class.forName(name))) {
        if (!Modifier.isStatic(m.getModifiers()) || m.getParameterCount() != 0 || m.isSynthetic()
            || Modifier.isPrivate(m.getModifiers())) {
          continue;
        }
        try {
          m.setAccessible(true);
          m.invoke(null);
          passed++;
        } catch (InvocationTargetException e) {
          failed++;
          System.out.println("FAILED " + name + "." + m.getName());
          e.getCause().printStackTrace(System.out);
        }
      }
    }
    System.out.println(passed + " passed, " + failed + " failed");
    System.exit(failed == 0 && passed != 0 ? 0 : 1);
  }

  private Check() {}
}
