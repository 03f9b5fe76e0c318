// SPDX-License-Identifier: BSD-2-Clause
// Passes each argument of each entry point wrongly once. The result must always be a RuntimeException, and the module
// must remain usable.

import java.io.File;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicReference;
import org.pytorch.DType;
import org.pytorch.Device;
import org.pytorch.IValue;
import org.pytorch.LiteModuleLoader;
import org.pytorch.LitePyTorchAndroid;
import org.pytorch.MemoryFormat;
import org.pytorch.Module;
import org.pytorch.ScalarType;
import org.pytorch.PyTorchAndroid;
import org.pytorch.Tensor;

final class WrongTest {
  private static final Class<?> NULL = NullPointerException.class, ARGUMENT = IllegalArgumentException.class;
  private static final String KINDS = Files.model("kinds.ptl");
  private static final Module M = Module.load(KINDS);
  private static final long[] ONE = {1};

  private static void usable() {
    Check.same(
        4f, M.forward(IValue.from(Tensor.fromBlob(new float[] {2}, ONE))).toTensor().getDataAsFloatArray()[0]);
  }

  /** A pipe without a writer is refused immediately. */
  static void pipes() throws Exception {
    File pipe = File.createTempFile("taper", ".ptl");
    Check.that(pipe.delete(), "delete");
    Check.same(0, new ProcessBuilder("mkfifo", pipe.getPath()).start().waitFor());
    try {
      Check.fails(BehaviourTest.MODEL_ERROR, () -> Module.load(pipe.getPath()));
      Check.fails(BehaviourTest.MODEL_ERROR, () -> LiteModuleLoader.load(pipe.getPath()));
    } finally {
      pipe.delete();
    }
  }

  static void loading() throws Exception {
    Check.fails(NULL, () -> Module.load(null));
    Check.fails(NULL, () -> LiteModuleLoader.load(null));
    Check.fails(NULL, () -> Module.load(KINDS, null, null));
    Check.fails(NULL, () -> LiteModuleLoader.load(KINDS, null, null));
    Check.fails(ARGUMENT, () -> Module.load(KINDS + "\0.ptl"));
    Check.fails(BehaviourTest.MODEL_ERROR, () -> Module.load(""));
    Check.fails(BehaviourTest.MODEL_ERROR, () -> Module.load(new File(KINDS).getParent()));
    Check.fails(UnsupportedOperationException.class, () -> Module.load(KINDS, Collections.singletonMap("a", "b"), Device.CPU));
    Map<String, String> nullKey = new HashMap<>();
    nullKey.put(null, "");
    Check.fails(NULL, () -> Module.load(KINDS, nullKey, Device.CPU));
    Check.fails(NULL, () -> PyTorchAndroid.loadModuleFromAsset(null, "a"));
    Check.fails(NULL, () -> LitePyTorchAndroid.loadModuleFromAsset(null, "a"));
    Check.fails(NULL, () -> LiteModuleLoader.loadModuleFromAsset(null, "a", Device.CPU));
    Check.fails(NULL, () -> Module.loadFrom((android.content.res.AssetManager) null, "a"));
    Check.fails(NULL, () -> Module.loadFrom(new android.content.res.AssetManager(), null));
    Check.fails(
        ARGUMENT, () -> Module.loadFrom(new android.content.res.AssetManager(), "no.ptl"), "Failed to open asset 'no.ptl'");
    Module.load(KINDS, null, Device.VULKAN).destroy(); // runs on the CPU, because there is no GPU
    usable();
  }

  static void descriptors() throws Exception {
    Check.fails(NULL, () -> Module.loadFrom((FileDescriptor) null));
    Check.fails(ARGUMENT, () -> Module.loadFrom(new FileDescriptor()));
    byte[] model = Files.bytes(KINDS);
    byte[] within = new byte[model.length + 150];
    System.arraycopy(model, 0, within, 100, model.length);
    FileInputStream in = new FileInputStream(Files.write(".apk", within));
    try {
      FileDescriptor fd = in.getFD();
      Check.fails(ARGUMENT, () -> Module.loadFrom(fd, -1, 0));
      Check.fails(ARGUMENT, () -> Module.loadFrom(fd, 0, -1));
      Check.fails(BehaviourTest.MODEL_ERROR, () -> Module.loadFrom(fd, within.length + 1, 0));
      Check.fails(BehaviourTest.MODEL_ERROR, () -> Module.loadFrom(fd, 100, within.length));
      Check.fails(BehaviourTest.MODEL_ERROR, () -> Module.loadFrom(fd, Long.MAX_VALUE, Long.MAX_VALUE));
      Module m = Module.loadFrom(fd, 100, model.length);
      in.close();
      Check.same(1L, m.runMethod("runs").toLong());
      m.destroy();
    } finally {
      in.close();
    }
  }

  static void buffers() throws Exception {
    Check.fails(NULL, () -> Module.loadFrom((ByteBuffer) null));
    Check.fails(BehaviourTest.MODEL_ERROR, () -> Module.loadFrom(ByteBuffer.allocateDirect(0)));
    Check.fails(BehaviourTest.MODEL_ERROR, () -> Module.loadFrom(ByteBuffer.allocate(10)));
    byte[] model = Files.bytes(KINDS);
    ByteBuffer direct = ByteBuffer.allocateDirect(model.length + 7);
    direct.position(7);
    direct.put(model);
    direct.position(7);
    for (ByteBuffer b : new ByteBuffer[] {direct, direct.asReadOnlyBuffer(), ByteBuffer.wrap(model)}) {
      Module m = Module.loadFrom(b);
      Tensor own = m.runMethod("own").toTensor();
      m.destroy();
      System.gc();
      Check.same(new float[] {0, 1, 2, 3, 4, 5}, own.getDataAsFloatArray());
    }
  }

  /** Models with a changed byte, or truncated: loading and running succeed or throw an exception. */
  static void damagedModels() {
    byte[] model = Files.bytes(KINDS);
    Random random = new Random(1);
    int refused = 0;
    for (int i = 0; i < 300; i++) {
      byte[] bytes = i % 3 == 0 ? Arrays.copyOf(model, random.nextInt(model.length)) : model.clone();
      for (int k = 0; k < 3 && bytes.length != 0; k++) {
        bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
      }
      try {
        Module m = Module.loadFrom(ByteBuffer.wrap(bytes));
        m.forward(IValue.from(Tensor.fromBlob(new float[] {2}, ONE)));
        m.destroy();
      } catch (RuntimeException e) {
        refused++;
        Check.that(e.getMessage() != null && !e.getMessage().isEmpty(), "a message");
      }
    }
    Check.that(refused > 200, refused + " of 300 refused");
    usable();
  }

  static void inputs() throws Exception {
    Check.fails(NULL, () -> M.forward((IValue[]) null));
    Check.fails(NULL, () -> M.forward((IValue) null));
    Check.fails(NULL, () -> M.runMethod(null));
    Check.fails(NULL, () -> M.runMethod("forward", (IValue[]) null));
    Check.fails(NULL, () -> M.inputTypes(null));
    Check.fails(NULL, () -> M.returnType(null));
    Check.fails(ARGUMENT, () -> M.inputTypes("nope"));
    Check.fails(ARGUMENT, () -> M.inputNames("nope"));
    Check.fails(ARGUMENT, () -> M.returnType("nope"));
    Check.fails(NULL, () -> M.forward(IValue.from((Tensor) null)));
    Check.fails(NULL, () -> M.runMethod("text", IValue.from((String) null)));
    Check.fails(NULL, () -> M.runMethod("longs", IValue.listFrom((long[]) null)));
    Check.fails(NULL, () -> M.runMethod("bools", IValue.listFrom((boolean[]) null)));
    Check.fails(NULL, () -> M.runMethod("doubles", IValue.listFrom((double[]) null)));
    Check.fails(NULL, () -> M.runMethod("tensors", IValue.listFrom((Tensor[]) null)));
    Check.fails(NULL, () -> M.runMethod("tensors", IValue.listFrom((Tensor) null)));
    Check.fails(NULL, () -> IValue.listFrom((IValue[]) null));
    Check.fails(NULL, () -> M.runMethod("strings", IValue.listFrom((IValue) null)));
    Check.fails(NULL, () -> M.runMethod("pair", IValue.tupleFrom((IValue[]) null)));
    Check.fails(NULL, () -> M.runMethod("pair", IValue.tupleFrom((IValue) null)));
    Check.fails(NULL, () -> M.runMethod("by_name", IValue.dictStringKeyFrom(null)));
    Check.fails(NULL, () -> M.runMethod("by_number", IValue.dictLongKeyFrom(null)));
    Map<String, IValue> names = new HashMap<>();
    names.put("a", null);
    Check.fails(NULL, () -> M.runMethod("by_name", IValue.dictStringKeyFrom(names)));
    names.clear();
    names.put(null, IValue.from(1));
    Check.fails(NULL, () -> M.runMethod("by_name", IValue.dictStringKeyFrom(names)));
    Map<Long, IValue> numbers = new HashMap<>();
    numbers.put(null, IValue.from(1));
    Check.fails(NULL, () -> M.runMethod("by_number", IValue.dictLongKeyFrom(numbers)));
    @SuppressWarnings({"unchecked", "rawtypes"})
    Map<String, IValue> foreign = (Map) Collections.singletonMap(3, "x");
    Check.fails(ClassCastException.class, () -> M.runMethod("by_name", IValue.dictStringKeyFrom(foreign)));
    Check.fails(ARGUMENT, () -> IValue.listFrom(IValue.from(1), IValue.from(true)), "List must contain items of the same type");
    Check.fails(BehaviourTest.MODEL_ERROR, () -> M.runMethod("longs", IValue.listFrom(IValue.from("x"))));
    Check.fails(BehaviourTest.MODEL_ERROR, () -> M.runMethod("longs", IValue.listFrom(1.5)));
    IValue[] all = new IValue[3000];
    Arrays.fill(all, IValue.from(1));
    Check.fails(BehaviourTest.MODEL_ERROR, () -> M.forward(all)); // 3,000 values need only one more local reference
    Check.fails(BehaviourTest.MODEL_ERROR, () -> M.forward(IValue.tupleFrom(all)));
    usable();
  }

  static void nesting() throws Exception {
    IValue deep = IValue.from(1);
    for (int i = 0; i < 100000; i++) {
      deep = IValue.tupleFrom(deep);
    }
    IValue value = deep;
    Check.fails(ARGUMENT, () -> M.forward(value));
    IValue[] itself = new IValue[1];
    itself[0] = IValue.listFrom(itself);
    Check.fails(ARGUMENT, () -> M.forward(itself[0]));
    Map<String, IValue> name = new HashMap<>();
    name.put("a", IValue.dictStringKeyFrom(name));
    Check.fails(ARGUMENT, () -> M.runMethod("by_name", name.get("a")));
    Map<Long, IValue> number = new HashMap<>();
    number.put(1L, IValue.listFrom(IValue.tupleFrom(IValue.dictLongKeyFrom(number))));
    Check.fails(ARGUMENT, () -> M.runMethod("by_number", IValue.dictLongKeyFrom(number)));
    usable();
  }

  /** Conversions use only a few local references, for any number of values. */
  static void manyValues() throws Exception {
    IValue[] texts = new IValue[100000];
    for (int i = 0; i < texts.length; i++) {
      texts[i] = IValue.from("a" + i);
    }
    IValue[] out = M.runMethod("strings", IValue.listFrom(texts)).toList();
    Check.same(texts.length, out.length);
    Check.same("a99999!", out[99999].toStr());
    Map<Long, IValue> numbers = new HashMap<>();
    Map<String, IValue> names = new HashMap<>();
    Tensor[] tensors = new Tensor[20000];
    IValue[] pairs = new IValue[100000];
    for (int i = 0; i < pairs.length; i++) {
      pairs[i] = IValue.listFrom(IValue.listFrom((long) i), IValue.listFrom(new long[0]));
      numbers.put((long) i, IValue.from(i));
      names.put("n" + i, IValue.listFrom(IValue.from("x")));
      tensors[i % tensors.length] = Tensor.fromBlob(new float[] {i}, ONE);
    }
    Check.fails(BehaviourTest.MODEL_ERROR, () -> M.forward(IValue.listFrom(pairs)));
    Check.fails(BehaviourTest.MODEL_ERROR, () -> M.forward(IValue.dictLongKeyFrom(numbers)));
    Check.fails(BehaviourTest.MODEL_ERROR, () -> M.forward(IValue.dictStringKeyFrom(names)));
    Check.same(tensors.length, M.runMethod("tensors", IValue.listFrom(tensors)).toTensorList().length);
    usable();
  }

  /** Maps of the app that change while they are read. */
  static void strangeMaps() throws Exception {
    class Strange extends java.util.AbstractMap<String, IValue> {
      int size = 1;
      RuntimeException thrown;

      @Override
      public int size() {
        return size;
      }

      @Override
      public java.util.Set<Entry<String, IValue>> entrySet() {
        if (thrown != null) {
          throw thrown;
        }
        if (size == 3) {
          usable(); // runs the module while the arguments of another run are converted
        }
        return Collections.singletonMap("a", IValue.from(1)).entrySet();
      }
    }
    Strange map = new Strange();
    IValue value = IValue.dictStringKeyFrom(map);
    M.runMethod("by_name", value);
    map.size = 3; // claims three entries, but has only one
    Check.fails(NULL, () -> M.runMethod("by_name", value));
    map.size = -1;
    Check.fails(NegativeArraySizeException.class, () -> M.runMethod("by_name", value));
    map.size = Integer.MAX_VALUE;
    Check.fails(RuntimeException.class, () -> M.runMethod("by_name", value), "Not enough memory");
    map.size = 1;
    map.thrown = new IllegalStateException("mine");
    Check.fails(IllegalStateException.class, () -> M.runMethod("by_name", value), "mine");
    Check.fails(IllegalStateException.class, () -> M.runMethod("by_name", IValue.tupleFrom(value, value)), "mine");
    usable();
  }

  /** Descriptors of files that contain no model. */
  static void strangeDescriptors() throws Exception {
    FileInputStream closed = new FileInputStream(KINDS);
    FileDescriptor fd = closed.getFD();
    closed.close();
    Check.fails(ARGUMENT, () -> Module.loadFrom(fd));
    try (java.io.FileOutputStream out = new java.io.FileOutputStream(Files.write(".ptl", Files.bytes(KINDS)), true)) {
      FileDescriptor written = out.getFD(); // the descriptor is open only for writing
      Check.fails(BehaviourTest.MODEL_ERROR, () -> Module.loadFrom(written));
      Check.fails(BehaviourTest.MODEL_ERROR, () -> Module.loadFrom(written, 0, 100));
    }
    try (FileInputStream zeros = new FileInputStream("/dev/zero")) {
      FileDescriptor device = zeros.getFD();
      Check.fails(BehaviourTest.MODEL_ERROR, () -> Module.loadFrom(device));
      Check.fails(BehaviourTest.MODEL_ERROR, () -> Module.loadFrom(device, 0, 1000));
    }
    // A descriptor that the system has closed, although its Java object still counts as open.
    FileInputStream in = new FileInputStream(KINDS);
    java.lang.reflect.Constructor<FileDescriptor> make = FileDescriptor.class.getDeclaredConstructor(int.class);
    make.setAccessible(true); // the test is started with access to java.io
    FileDescriptor none = make.newInstance(987654);
    Check.fails(BehaviourTest.MODEL_ERROR, () -> Module.loadFrom(none));
    in.close();
    usable();
  }

  /** Buffers whose bytes are not aligned to elements. */
  static void strangeBuffers() throws Exception {
    ByteBuffer bytes = Tensor.allocateByteBuffer(64);
    for (int i = 0; i < 64; i++) {
      bytes.put(i, (byte) i);
    }
    bytes.position(8);
    ByteBuffer slice = bytes.slice().order(ByteOrder.nativeOrder());
    slice.position(5); // the native address of the elements must be aligned, whatever the buffer's position
    byte[] same = M.runMethod("same", IValue.from(Tensor.fromBlob(slice, new long[] {56}))).toTensor().getDataAsByteArray();
    Check.that(same[0] == 8 && same[55] == 63, "all bytes of a slice");
    bytes.position(1);
    ByteBuffer odd = bytes.slice().order(ByteOrder.nativeOrder());
    odd.limit(8);
    ByteBuffer odds = odd.slice().order(ByteOrder.nativeOrder());
    Check.fails(BehaviourTest.MODEL_ERROR, () -> M.forward(IValue.from(Tensor.fromBlob(odds, ScalarType.FLOAT32, new long[] {2}))), "aligned");
    Check.fails(
        BehaviourTest.MODEL_ERROR,
        () -> M.forward(IValue.from(Tensor.fromBlob(odds.asFloatBuffer(), new long[] {2}))),
        "aligned");
    usable();
  }

  static void tensors() throws Exception {
    long[] many = new long[17];
    java.util.Arrays.fill(many, 1);
    Check.fails(ARGUMENT, () -> M.forward(IValue.from(Tensor.fromBlob(new float[1], many))));
    Check.fails(
        ARGUMENT, () -> M.forward(IValue.from(Tensor.fromBlob(new float[1], ONE, MemoryFormat.CHANNELS_LAST))));
    Check.fails(
        ARGUMENT, () -> M.forward(IValue.from(Tensor.fromBlob(new float[1], ONE, MemoryFormat.CHANNELS_LAST_3D))));
    Check.fails(ARGUMENT, () -> Tensor.fromBlob(new float[1], ONE, null));
    Check.fails(ARGUMENT, () -> Tensor.fromBlob(new byte[2], ONE));
    Check.fails(ARGUMENT, () -> Tensor.fromBlob((byte[]) null, ONE));
    Check.fails(ARGUMENT, () -> Tensor.fromBlobUnsigned(new byte[2], ONE));
    Check.fails(ARGUMENT, () -> Tensor.fromBlobUnsigned((byte[]) null, ONE));
    Check.fails(ARGUMENT, () -> Tensor.fromBlobUnsigned((ByteBuffer) null, ONE));
    Check.fails(ARGUMENT, () -> Tensor.fromBlobUnsigned(ByteBuffer.allocate(1), ONE));
    Check.fails(ARGUMENT, () -> Tensor.fromBlob(new int[2], ONE));
    Check.fails(ARGUMENT, () -> Tensor.fromBlob((int[]) null, ONE));
    Check.fails(ARGUMENT, () -> Tensor.fromBlob(new long[2], ONE));
    Check.fails(ARGUMENT, () -> Tensor.fromBlob((long[]) null, ONE));
    Check.fails(ARGUMENT, () -> Tensor.fromBlob(new double[2], ONE));
    Check.fails(ARGUMENT, () -> Tensor.fromBlob((double[]) null, ONE));
    Check.fails(ARGUMENT, () -> Tensor.fromBlob(new boolean[2], ONE));
    Check.fails(ARGUMENT, () -> Tensor.fromBlob((boolean[]) null, ONE));
    Check.fails(ARGUMENT, () -> Tensor.fromBlob(new short[2], ONE));
    Check.fails(ARGUMENT, () -> Tensor.fromBlob((short[]) null, ONE));
    Check.fails(ARGUMENT, () -> Tensor.fromBlob((ByteBuffer) null, ONE));
    Check.fails(ARGUMENT, () -> Tensor.fromBlob(ByteBuffer.allocate(1), ONE));
    Check.fails(ARGUMENT, () -> Tensor.fromBlob(IntBuffer.allocate(1), ONE));
    Check.fails(ARGUMENT, () -> Tensor.fromBlob(LongBuffer.allocate(1), ONE));
    Check.fails(ARGUMENT, () -> Tensor.fromBlob(DoubleBuffer.allocate(1), ONE));
    Check.fails(ARGUMENT, () -> Tensor.fromBlob(Tensor.allocateIntBuffer(2), ONE));
    ByteBuffer direct = Tensor.allocateByteBuffer(6);
    Check.fails(ARGUMENT, () -> Tensor.fromBlob(direct, null, ONE));
    Check.fails(ARGUMENT, () -> Tensor.fromBlob(direct, ScalarType.FLOAT32, new long[] {1}));
    Check.fails(ARGUMENT, () -> Tensor.fromBlob(direct, ScalarType.FLOAT32, new long[] {2}));
    Check.fails(ARGUMENT, () -> Tensor.fromBlob(direct, ScalarType.UINT8, null));
    Check.fails(
        ARGUMENT, () -> Tensor.fromBlob(direct.duplicate().order(ByteOrder.BIG_ENDIAN), ScalarType.INT16, new long[] {3}));
    Check.fails(ARGUMENT, () -> Tensor.numel(null));
    Check.fails(ARGUMENT, () -> Tensor.numel(new long[] {-1}));
    Check.fails(ARGUMENT, () -> Tensor.numel(new long[] {Long.MAX_VALUE, 3}));
    Check.same(0L, Tensor.numel(new long[] {Long.MAX_VALUE, 3, 0}));
    Check.fails(ARGUMENT, () -> Tensor.allocateByteBuffer(-1));
    Check.fails(ARGUMENT, () -> Tensor.allocateDoubleBuffer(0x20000001));
    Check.fails(ARGUMENT, () -> Tensor.allocateFloatBuffer(Integer.MAX_VALUE));
    Tensor empty = Tensor.fromBlob(new float[0], new long[] {Long.MAX_VALUE, Long.MAX_VALUE, 0});
    try {
      M.forward(IValue.from(empty));
    } catch (RuntimeException e) {
      // Sizes whose product overflows may also be refused, even if one size is 0.
    }
    for (long[] sizes : new long[][] {{1L << 40, 0}, {0, 1L << 40}, {0, 1L << 20, 3, 1}, {1L << 31, 0, 2, 2, 2}}) {
      Tensor none = M.runMethod("same", IValue.from(Tensor.fromBlob(new float[0], sizes))).toTensor();
      Check.same(sizes, none.shape());
      Check.same(0, none.getDataAsFloatArray().length);
    }
    Check.fails(ARGUMENT, () -> DType.valueOf("FLOAT31"));
    usable();
  }

  /** A full Java heap must not cause an Error. The test runs this method in a process with a small heap. */
  static void noMemory() throws Exception {
    if (Runtime.getRuntime().maxMemory() > 100L << 20) {
      return;
    }
    float[] big = new float[4 << 20]; // 16 MB of a heap of 64 MB
    char[] letters = new char[1 << 20];
    Arrays.fill(letters, 'ü');
    IValue text = IValue.from(new String(letters));
    Tensor t = Tensor.fromBlob(big, new long[] {big.length});
    Object[] keep = new Object[1000];
    int n = 0;
    RuntimeException refused = null;
    while (refused == null) {
      try {
        keep[n++] = t.getDataAsFloatArray();
      } catch (RuntimeException e) {
        refused = e;
      }
    }
    Check.that(refused.getMessage().contains("Not enough memory"), "no memory: " + refused);
    // Requests a result for which Java has no memory left.
    try {
      for (int i = 0; i < 100; i++) {
        keep[n++] = M.runMethod("text", text);
      }
      throw new AssertionError("there was room");
    } catch (RuntimeException e) {
      Check.that(e.getMessage().contains("Not enough memory"), "no memory: " + e);
    }
    keep = null;
    usable();
  }

  static void cancel() throws Exception {
    Module slow = Module.load(Files.model("slow.ptl"));
    Tensor x = Tensor.fromBlob(new float[64 * 64], new long[] {64, 64});
    AtomicReference<Throwable> seen = new AtomicReference<>();
    Thread runner =
        new Thread(
            () -> {
              try {
                slow.forward(IValue.from(x), IValue.from(Long.MAX_VALUE));
              } catch (Throwable e) {
                seen.set(e);
              }
            });
    runner.start();
    Thread.sleep(50);
    slow.cancel();
    runner.join(60000);
    Check.that(seen.get() != null && seen.get().getClass() == CancellationException.class, "cancelled: " + seen.get());
    slow.forward(IValue.from(x), IValue.from(1));
    slow.destroy();
  }

  /** Destroying a module during a run does not affect the run; later runs are refused. */
  static void destroyWhileRunning() throws Exception {
    for (int round = 0; round < 20; round++) {
      Module m = Module.load(KINDS);
      Tensor x = Tensor.fromBlob(new float[1000], new long[] {1000});
      Thread[] threads = new Thread[4];
      AtomicReference<Throwable> bad = new AtomicReference<>();
      for (int i = 0; i < threads.length; i++) {
        threads[i] =
            new Thread(
                () -> {
                  try {
                    while (true) {
                      Check.same(1000L, m.forward(IValue.from(x)).toTensor().numel());
                    }
                  } catch (NullPointerException e) {
                    // An exception after the module was destroyed is expected.
                  } catch (Throwable e) {
                    bad.set(e);
                  }
                });
        threads[i].start();
      }
      Thread.sleep(3);
      m.destroy();
      for (Thread t : threads) {
        t.join(60000);
      }
      Check.that(bad.get() == null, "" + bad.get());
    }
  }

  private WrongTest() {}
}
