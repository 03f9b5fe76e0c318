// SPDX-License-Identifier: BSD-2-Clause
// java ListApi.java JAR|FOLDER…: lists the public and protected members of the classes in the first argument, sorted,
// one per line. The other arguments are searched for superclasses and for the classes of parameters. With --missing
// LIST it prints the lines of LIST that are not among the members, and the enum constants that are not in LIST, because
// these break a switch over all constants. The last line has the counts; the exit status is 1 if --missing printed a
// line.

import java.io.File;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.stream.Stream;

final class ListApi {
  private static List<String> classNames(File from) throws Exception {
    List<String> names = new ArrayList<>();
    if (from.isDirectory()) {
      try (Stream<Path> files = Files.walk(from.toPath())) {
        files.forEach(f -> names.add(from.toPath().relativize(f).toString()));
      }
    } else {
      try (JarFile jar = new JarFile(from)) {
        jar.stream().forEach(e -> names.add(e.getName()));
      }
    }
    names.removeIf(n -> !n.endsWith(".class") || n.startsWith("META-INF") || n.endsWith("module-info.class"));
    names.replaceAll(n -> n.substring(0, n.length() - 6).replace('/', '.'));
    return names;
  }

  private static boolean isSeen(int modifiers) {
    return (modifiers & (Modifier.PUBLIC | Modifier.PROTECTED)) != 0;
  }

  private static String kind(int modifiers) {
    return (Modifier.isPublic(modifiers) ? "public " : "protected ") + (Modifier.isStatic(modifiers) ? "static " : "");
  }

  private static String types(Type[] types, boolean varargs) {
    StringBuilder s = new StringBuilder("(");
    for (int i = 0; i < types.length; i++) {
      String name = types[i].getTypeName();
      boolean last = i == types.length - 1;
      s.append(last && varargs ? name.substring(0, name.length() - 2) + "..." : name).append(last ? "" : ", ");
    }
    return s.append(")").toString();
  }

  private static void list(Class<?> c, Set<String> lines) {
    int m = c.getModifiers();
    if (!Modifier.isPublic(m)) {
      return;
    }
    String name = c.getName();
    lines.add(
        name + ": " + (c.isEnum() ? "enum" : c.isInterface() ? "interface" : Modifier.isAbstract(m) ? "abstract class"
            : Modifier.isFinal(m) ? "final class" : "class")
            + (c.getSuperclass() != null && c.getSuperclass() != Object.class && !c.isEnum()
                ? " extends " + c.getSuperclass().getName() : ""));
    for (Class<?> i : c.getInterfaces()) {
      lines.add(name + ": implements " + i.getName());
    }
    for (Field f : c.getDeclaredFields()) {
      if (isSeen(f.getModifiers()) && !f.isSynthetic()) {
        lines.add(
            name + ": " + kind(f.getModifiers()) + (Modifier.isFinal(f.getModifiers()) ? "final " : "")
                + f.getGenericType().getTypeName() + " " + f.getName());
      }
    }
    for (Constructor<?> k : c.getDeclaredConstructors()) {
      if (isSeen(k.getModifiers()) && !k.isSynthetic()) {
        lines.add(name + ": " + kind(k.getModifiers()) + "<init>" + types(k.getGenericParameterTypes(), k.isVarArgs()));
      }
    }
    // Other packages see public members of a superclass that is not public as members of this class.
    for (Class<?> s = c; s != null && (s == c || !Modifier.isPublic(s.getModifiers())); s = s.getSuperclass()) {
      for (Method k : s.getDeclaredMethods()) {
        if (isSeen(k.getModifiers()) && !k.isSynthetic()) {
          lines.add(
              name + ": " + kind(k.getModifiers()) + k.getGenericReturnType().getTypeName() + " " + k.getName()
                  + types(k.getGenericParameterTypes(), k.isVarArgs()));
        }
      }
    }
  }

  public static void main(String[] arguments) throws Exception {
    List<String> args = new ArrayList<>(List.of(arguments));
    List<String> lists = new ArrayList<>();
    while (args.get(0).equals("--missing")) {
      lists.add(args.get(1));
      args.subList(0, 2).clear();
    }
    URL[] urls = new URL[args.size()];
    for (int i = 0; i < urls.length; i++) {
      urls[i] = new File(args.get(i)).toURI().toURL();
    }
    Set<String> lines = new TreeSet<>();
    try (URLClassLoader loader = new URLClassLoader(urls, ClassLoader.getPlatformClassLoader())) {
      for (String name : classNames(new File(args.get(0)))) {
        list(Class.forName(name, false, loader), lines);
      }
    }
    if (lists.isEmpty()) {
      lines.forEach(System.out::println);
      return;
    }
    int there = 0, missing = 0;
    Set<String> listed = new TreeSet<>();
    for (String list : lists) {
      listed.addAll(Files.readAllLines(Path.of(list)));
    }
    for (String line : lines) {
      int end = line.indexOf(": public static final ");
      String name = end < 0 ? "" : line.substring(0, end);
      if (listed.contains(name + ": enum") && line.startsWith(name + ": public static final " + name + " ")
          && !listed.contains(line)) {
        missing++;
        System.out.println("more: " + line);
      }
    }
    for (String list : lists) {
      for (String line : Files.readAllLines(Path.of(list))) {
        if (!line.isEmpty() && !line.startsWith("#")) {
          if (lines.contains(line)) {
            there++;
          } else {
            missing++;
            System.out.println("missing: " + line);
          }
        }
      }
    }
    System.out.println(there + " passed, " + missing + " failed");
    System.exit(missing == 0 && there != 0 ? 0 : 1);
  }
}
