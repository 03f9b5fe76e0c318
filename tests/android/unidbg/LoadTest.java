// SPDX-License-Identifier: BSD-2-Clause
// LoadTest LIBRARY FOLDER: runs libpytorch_jni.so for arm64 or armv7 in unidbg, which emulates the processor and Java
// and has Android's C library of API 23. The test loads the library, then loads and runs a model through JNI, with
// values that are not tensors, because unidbg has no direct buffers. A damaged file must throw an exception. A network
// is run through taper.h, and its results are compared with stored results. FOLDER contains kinds.ptl, the first half
// of that file as kinds.ptl.short, and the sample s01_convnet.

import com.github.unidbg.AndroidEmulator;
import com.github.unidbg.Emulator;
import com.github.unidbg.Module;
import com.github.unidbg.Svc;
import com.github.unidbg.arm.Arm64Svc;
import com.github.unidbg.arm.ArmSvc;
import com.github.unidbg.arm.backend.Backend;
import com.github.unidbg.arm.context.RegisterContext;
import com.github.unidbg.file.FileResult;
import com.github.unidbg.linux.android.AndroidEmulatorBuilder;
import com.github.unidbg.linux.android.AndroidResolver;
import com.github.unidbg.linux.android.dvm.AbstractJni;
import com.github.unidbg.linux.android.dvm.BaseVM;
import com.github.unidbg.linux.android.dvm.DalvikModule;
import com.github.unidbg.linux.android.dvm.DvmClass;
import com.github.unidbg.linux.android.dvm.DvmObject;
import com.github.unidbg.linux.android.dvm.StringObject;
import com.github.unidbg.linux.android.dvm.VM;
import com.github.unidbg.linux.android.dvm.VarArg;
import com.github.unidbg.linux.android.dvm.array.ArrayObject;
import com.github.unidbg.linux.file.SimpleFileIO;
import com.github.unidbg.memory.MemoryBlock;
import com.github.unidbg.pointer.UnidbgPointer;
import com.sun.jna.Pointer;
import java.io.File;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;

final class LoadTest extends AbstractJni {
  /** Stands in for the Java class IValue. */
  private static final class Value {
    final int code;
    final long number;
    final DvmObject<?> data;

    Value(int code, long number, DvmObject<?> data) {
      this.code = code;
      this.number = number;
      this.data = data;
    }
  }

  /** A file that supports reading at an offset, which SimpleFileIO does not support on armv7. */
  private static final class ReadFile extends SimpleFileIO {
    private final File file;

    ReadFile(int flags, File file) {
      super(flags, file, file.getPath());
      this.file = file;
    }

    @Override
    public int pread(Backend backend, Pointer buffer, int count, long offset) {
      try (RandomAccessFile open = new RandomAccessFile(file, "r")) {
        byte[] bytes = new byte[count];
        open.seek(offset);
        int n = Math.max(open.read(bytes), 0);
        buffer.write(0, bytes, 0, n);
        return n;
      } catch (java.io.IOException e) {
        return -1;
      }
    }
  }

  private static final String VALUE = "org/pytorch/IValue";
  private static final int GET_STRING_REGION = 220; // index of the function GetStringRegion in JNI's table
  private static int passed, failed;
  private final AndroidEmulator emulator;
  private final VM vm;
  private final Module module;
  private final DvmClass functions;
  private String thrown;

  private static void check(boolean good, String what) {
    passed += good ? 1 : 0;
    failed += good ? 0 : 1;
    System.out.println((good ? "ok      " : "FAILED  ") + what);
  }

  // ---- Java's side

  @Override
  public DvmObject<?> newObject(BaseVM vm, DvmClass type, String signature, VarArg arguments) {
    if (signature.startsWith(VALUE)) {
      return type.newObject(new Value(arguments.getIntArg(0), arguments.getLongArg(1), arguments.getObjectArg(2)));
    }
    if (signature.endsWith("Exception-><init>(Ljava/lang/String;)V")) {
      thrown = type.getClassName() + ": " + arguments.getObjectArg(0).getValue();
      return type.newObject(thrown);
    }
    return super.newObject(vm, type, signature, arguments);
  }

  @Override
  public int getIntField(BaseVM vm, DvmObject<?> object, String signature) {
    return signature.equals(VALUE + "->mTypeCode:I") ? ((Value) object.getValue()).code : super.getIntField(vm, object, signature);
  }

  @Override
  public long getLongField(BaseVM vm, DvmObject<?> object, String signature) {
    return signature.equals(VALUE + "->mNumber:J") ? ((Value) object.getValue()).number : super.getLongField(vm, object, signature);
  }

  @Override
  public DvmObject<?> getObjectField(BaseVM vm, DvmObject<?> object, String signature) {
    return signature.startsWith(VALUE + "->mData") ? ((Value) object.getValue()).data : super.getObjectField(vm, object, signature);
  }

  /** Replaces a function of unidbg 0.9.8 that counts bytes instead of characters, so it returns only half of the
   * string. */
  private void mendGetStringRegion() {
    final int size = emulator.getPointerSize();
    final Svc svc =
        emulator.is64Bit()
            ? new Arm64Svc() {
              @Override
              public long handle(Emulator<?> e) {
                return stringRegion(e.getContext());
              }
            }
            : new ArmSvc() {
              @Override
              public long handle(Emulator<?> e) {
                return stringRegion(e.getContext());
              }
            };
    UnidbgPointer table = ((UnidbgPointer) vm.getJNIEnv()).getPointer(0);
    table.setPointer((long) GET_STRING_REGION * size, emulator.getSvcMemory().registerSvc(svc));
  }

  private long stringRegion(RegisterContext context) {
    String string = (String) vm.getObject(context.getPointerArg(1).toIntPeer()).getValue();
    int start = context.getIntArg(2), length = context.getIntArg(3);
    byte[] units = string.substring(start, start + length).getBytes(StandardCharsets.UTF_16LE);
    context.getPointerArg(4).write(0, units, 0, units.length);
    return 0;
  }

  private LoadTest(File library, String folder) {
    boolean wide = isWide(library);
    emulator = (wide ? AndroidEmulatorBuilder.for64Bit() : AndroidEmulatorBuilder.for32Bit()).setProcessName("dev.taper").build();
    emulator.getMemory().setLibraryResolver(new AndroidResolver(23));
    emulator
        .getSyscallHandler()
        .addIOResolver(
            (Emulator<com.github.unidbg.file.linux.AndroidFileIO> e, String path, int flags) ->
                path.startsWith(folder) && new File(path).isFile()
                    ? FileResult.<com.github.unidbg.file.linux.AndroidFileIO>success(new ReadFile(flags, new File(path)))
                    : null);
    vm = emulator.createDalvikVM();
    vm.setJni(this);
    mendGetStringRegion();
    DalvikModule loaded = vm.loadLibrary(library, true);
    loaded.callJNI_OnLoad(emulator);
    module = loaded.getModule();
    functions = vm.resolveClass("org/pytorch/NativeLibrary");
  }

  private static boolean isWide(File library) {
    try {
      return Files.readAllBytes(library.toPath())[4] == 2;
    } catch (java.io.IOException e) {
      throw new AssertionError(e);
    }
  }

  private DvmObject<?> value(int code, long number, DvmObject<?> data) {
    return vm.resolveClass(VALUE).newObject(new Value(code, number, data));
  }

  private long load(String path) {
    thrown = null;
    return functions.callStaticJniMethodLong(
        emulator, "loadFile(Ljava/lang/String;Ljava/lang/String;)J", new StringObject(vm, path), new StringObject(vm, "cpu"));
  }

  private Value run(long model, String method, DvmObject<?>... inputs) {
    thrown = null;
    DvmObject<?> result =
        functions.callStaticJniMethodObject(
            emulator,
            "run(JLjava/lang/String;[Lorg/pytorch/IValue;)Lorg/pytorch/IValue;",
            model,
            new StringObject(vm, method),
            new ArrayObject(inputs));
    return result != null ? (Value) result.getValue() : null;
  }

  private void throughJni(String folder) {
    long model = load(folder + "/kinds.ptl");
    check(model != 0 && thrown == null, "a model is loaded: " + thrown);
    Value runs = run(model, "runs");
    check(runs != null && runs.code == 4 && runs.number == 1, "runs() is 1");
    Value text = run(model, "text", value(6, 0, new StringObject(vm, "Grüße 𝄞")));
    check(text != null && text.code == 6 && "Grüße 𝄞Grüße 𝄞".equals(text.data.getValue()), "text(): " + (text != null ? text.data.getValue() : thrown));
    Value all = run(model, "scalar", value(3, 1, null), value(4, 1L << 40, null), value(5, Double.doubleToRawLongBits(-0.5), null));
    DvmObject<?>[] items = all != null ? ((ArrayObject) all.data).getValue() : new DvmObject<?>[0];
    check(items.length == 3, "scalar(): " + items.length + " items, " + thrown);
    long[] numbers = {0, (1L << 40) + 1, Double.doubleToRawLongBits(-0.25)};
    for (int i = 0; i < items.length; i++) {
      Value item = (Value) items[i].getValue();
      check(item.code == 3 + i && item.number == numbers[i], "item " + i + ": " + item.number);
    }
    check(run(model, "nothing") == null && (thrown + "").contains("Undefined method nothing"), "an unknown method: " + thrown);
    check(load(folder + "/none.ptl") == 0 && (thrown + "").contains("errno 2"), "a missing file: " + thrown);
    check(load(folder + "/kinds.ptl.short") == 0 && (thrown + "").contains("central directory"), "half a file: " + thrown);
  }

  // ---- taper.h

  private final MemoryBlock[] kept = new MemoryBlock[32];
  private int used;

  private UnidbgPointer memory(int size) {
    kept[used] = emulator.getMemory().malloc(size, true);
    return kept[used++].getPointer();
  }

  private int call(String name, Object... arguments) {
    return module.callFunction(emulator, name, arguments).intValue();
  }

  private UnidbgPointer made(String name, Object... arguments) {
    UnidbgPointer out = memory(8);
    Object[] all = java.util.Arrays.copyOf(arguments, arguments.length + 2);
    all[arguments.length] = out;
    all[arguments.length + 1] = 0;
    int status = call(name, all);
    check(status == 0, name + ": status " + status);
    return out.getPointer(0);
  }

  private static float[] floats(String npy) throws java.io.IOException {
    ByteBuffer all = ByteBuffer.wrap(Files.readAllBytes(new File(npy).toPath())).order(ByteOrder.LITTLE_ENDIAN);
    all.position(10 + all.getShort(8));
    float[] floats = new float[all.remaining() / 4];
    all.asFloatBuffer().get(floats);
    return floats;
  }

  private UnidbgPointer tensorInfo(UnidbgPointer value) {
    UnidbgPointer info = memory(96);
    info.setInt(0, emulator.is64Bit() ? 88 : 56);
    info.setInt(4, 0);
    check(call("taper_value_get_tensor", value, info, 0) == 0, "taper_value_get_tensor");
    return info;
  }

  private UnidbgPointer data(UnidbgPointer info) {
    return info.getPointer(emulator.is64Bit() ? 40 : 20);
  }

  private void throughTaper(String folder) throws java.io.IOException {
    float[] in = floats(folder + "/s01_convnet.c0.in0.npy"), want = floats(folder + "/s01_convnet.c0.out.npy");
    UnidbgPointer context = made("taper_context_create", 0);
    UnidbgPointer path = memory(512);
    path.setString(0, folder + "/s01_convnet.ptl");
    UnidbgPointer model = made("taper_model_load", context, path, 0);
    UnidbgPointer session = made("taper_session_create", model, 0);
    UnidbgPointer sizes = memory(32);
    sizes.write(0, new long[] {1, 3, 10, 12}, 0, 4);
    UnidbgPointer value = made("taper_value_tensor", context, F32, 4, sizes);
    data(tensorInfo(value)).write(0, in, 0, in.length);
    UnidbgPointer inputs = memory(8);
    inputs.setPointer(0, value);
    UnidbgPointer result = made("taper_session_run", session, 0, inputs, 1);
    float[] got = data(tensorInfo(result)).getFloatArray(0, want.length);
    float worst = 0;
    for (int i = 0; i < want.length; i++) {
      worst = Math.max(worst, Math.abs(got[i] - want[i]) / Math.max(1, Math.abs(want[i])));
    }
    check(worst <= 1e-5f, want.length + " results, at most " + worst + " from PyTorch's");
  }

  private static final int F32 = 6; // value of the enumerator TAPER_F32

  public static void main(String[] arguments) throws Exception {
    String folder = new File(arguments[1]).getCanonicalPath();
    LoadTest test = new LoadTest(new File(arguments[0]), folder);
    check(true, "the library for " + (test.emulator.is64Bit() ? "64" : "32") + " bits is loaded");
    test.throughJni(folder);
    test.throughTaper(folder);
    System.out.println(passed + " passed, " + failed + " failed");
    System.exit(failed == 0 ? 0 : 1);
  }
}
