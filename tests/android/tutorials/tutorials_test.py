#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""tutorials_test.py --programs DIR --libraries DIR --classes DIR --stubs DIR: tests the code in PyTorch Mobile's tutorials, unmodified.

Takes every snippet from the tutorials' sources, which are not part of this repository (../shared/reference/tutorials, or TUTORIALS). Python
prepares models with PyTorch, Java is compiled with our classes inside a minimal app and runs on this machine's JVM with those models, and shell
commands run if they are about Taper. A snippet that is not in the table below is a failure. A snippet that cannot run on this machine is listed
with the reason. Results are compared with PyTorch's. Exit 77: the tutorials, or PyTorch, are missing."""
import argparse
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
TUTORIALS = os.environ.get("TUTORIALS", os.path.join(os.path.dirname(ROOT), "shared", "reference", "tutorials"))
PYTHON = "/usr/bin/python3"
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import op_rows  # noqa: E402

# ---- snippets


def blocks(text):
    """Returns (language, code) of each code directive of a .rst file."""
    lines = text.split("\n")
    for at, line in enumerate(lines):
        directive = re.match(r"\.\. code(?:-block)?:: *(\S+)", line)
        if directive:
            code = []
            for next_line in lines[at + 1:]:
                if next_line.strip() and not next_line.startswith(" "):
                    break
                code.append(next_line)
            while code and not code[-1].strip():
                code.pop()
            while code and not code[0].strip():
                code.pop(0)
            indent = min(len(c) - len(c.lstrip()) for c in code if c.strip())
            yield directive[1], "\n".join(c[indent:] for c in code)


def commands(text):
    """Returns commands and imports in the middle of a sentence."""
    for code in re.findall(r"``([^`]+)``|(?<!`)`([^`<]+)`(?!`)", text):
        code = " ".join((code[0] or code[1]).split())
        if re.match(r"(\w+=\S+ )*\./\S+\.sh|pip3? install |import |--\w+=", code):
            yield "inline", code


def notes(text):
    """Returns paragraphs of plain text that are code. Consecutive paragraphs of one kind are one snippet."""
    language = {r"^(from|import) \S+|^\w+ = optimize": "python", r"^(c10|torch)::|^for \(": "c++", r"^Module ": "java", r"^(cd |\./)": "shell"}
    found, ended = [], True
    for paragraph in re.split(r"\n{2,}", text):
        kind = next((k for pattern, k in language.items() if re.match(pattern, paragraph)), None)
        if paragraph == "..." and found:
            found[-1][1] += "\n..."
        elif kind and not ended and found[-1][0] == kind:
            found[-1][1] += "\n" + paragraph
        elif kind:
            found.append([kind, paragraph])
        ended = kind is None and paragraph != "..."
    return [tuple(f) for f in found]


def snippets(name):
    with open(os.path.join(TUTORIALS, name), encoding="utf-8", errors="replace") as file:
        text = file.read()
    return notes(text) if name.endswith(".txt") else list(blocks(text)) + list(commands(text))


# ---- running snippets

passed = failed = 0
not_run = []


def check(good, what, said=""):
    global passed, failed
    passed += bool(good)
    failed += not good
    print("ok    " if good else "FAILED", what, flush=True)
    if not good and said:
        print(said[-3000:])


def run(command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **more)


class Bench:
    """A folder in which the snippets run in order, and the paths of the build."""

    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.path = ":".join((os.path.join(folder, "app"), options.classes, options.stubs))
        self.environment = {**os.environ, "HOME": folder, "ATEN_CPU_CAPABILITY": "avx2"}
        self.output, self.imports = "", ""
        for name in ("app", "files", "mobilenetv2-nnapi"):
            os.mkdir(os.path.join(folder, name))
        android = [os.path.join(top, name) for top, _, names in os.walk(HERE) for name in names if name.endswith(".java")]
        self.javac(*android)

    def file(self, name):
        return os.path.join(self.folder, name)

    def javac(self, *files):
        # Warnings are errors, so that an app compiles without them.
        done = run(["javac", "--release", "8", "-Xlint:all,-options,-static", "-Werror", "-d", self.file("app"), "-cp", self.path, *files])
        check(done.returncode == 0, "javac " + " ".join(os.path.basename(f) for f in files), done.stdout)

    def gpu(self):
        """Compiles a library with stand-ins for PyTorch's Metal and Vulkan operators, which distributed builds of PyTorch lack."""
        library = self.file("gpu.so")
        if "GPU_STUB" not in self.environment:
            done = run(["g++", "-std=c++17", "-O0", "-fPIC", "-shared", "-I/usr/include/torch/csrc/api/include",
                        os.path.join(ROOT, "scripts", "oracle", "gpu_prepack_stub.cpp"), "-o", library, "-ltorch_cpu", "-lc10"])
            self.environment["GPU_STUB"] = library if done.returncode == 0 else ""
            if done.returncode:
                print(done.stdout[-500:])
        return bool(self.environment["GPU_STUB"])

    def python(self, what, code, then):
        with open(self.file("snippet.py"), "w", encoding="utf-8") as file:
            file.write(code)
        done = run([PYTHON, os.path.join(HERE, "prepare.py"), "snippet.py", then], cwd=self.folder, env=self.environment)
        self.output = done.stdout
        check(done.returncode == 0, what, done.stdout)
        return done.returncode == 0

    def java(self, what, members, shape, name, key=None, imports=""):
        """Runs an app with members that define load(); the loaded model must give PyTorch's result."""
        with open(os.path.join(HERE, "MainActivity.java.in"), encoding="utf-8") as file:
            text = file.read().replace("@IMPORTS@", imports).replace("@MEMBERS@", members)
        source = self.file("MainActivity.java")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        self.javac(source)
        out = self.file("out")
        done = run(["sh", os.path.join(ROOT, "tests", "android", "run_java.sh"), "java", "-cp", self.path,
                    "-Djava.library.path=" + self.options.libraries, "-Dassets=" + self.folder, "-Dfiles=" + self.file("files"),
                    "org.pytorch.imagesegmentation.MainActivity", self.file(name + ".in"), shape, out, *([key] if key else [])])
        if done.returncode:
            check(False, what, done.stdout)
            return
        import numpy
        want, got = numpy.fromfile(self.file(name + ".want"), "<f4"), numpy.fromfile(out, "<f4")
        same = want.shape == got.shape and numpy.isfinite(want).all() and numpy.abs(want).max() > 0
        error = numpy.abs(want - got).max() / numpy.abs(want).max() if same else float("inf")
        check(error <= 1e-4, "%s: %d results, at most %.1e of the largest from PyTorch's" % (what, want.size, error))


def load(expression):
    return "Module load() throws IOException {\n    return %s;\n  }" % expression


# ---- the table: (file, language, beginning of the code): function that tests it


def left(reason):
    return lambda bench, what, code: not_run.append((what, reason))


HEADERS = left("it needs libtorch's C++ headers, which the Android binding does not have")
PYTORCH = left("it installs or builds PyTorch itself")
SHOWN = left("it is what a phone showed, with trained weights")
IOS = left("it builds for iOS, which needs a Mac")
GRADLE = left("it needs Gradle and a phone or emulator")


def deeplab(bench, what, code):
    if bench.python(what, code, "write('deeplab', model, (1, 3, 64, 64), 'out')"):
        for name in ("deeplabv3_scripted.pt", "deeplabv3_scripted.ptl"):
            check(os.path.getsize(bench.file(name)) > 100e6, name + " is there")


def lite_loader(bench, what, code):
    """Checks that the old line, which the tutorial replaces, also runs."""
    new, old = code.split("\n")[1], re.sub("^ *// *", "", code.split("\n")[0])
    check(old.startswith("mModule = Module.load") and new.startswith("mModule = LiteModuleLoader.load"), what + ": two lines")
    for line, imports in ((new, bench.imports), (old, "")):
        bench.java(what + ": " + line.split("(")[0], "private Module mModule = null;\n\n  Module load() throws IOException {\n    %s\n    return mModule;\n  }"
                   % line, "1,3,64,64", "deeplab", "out", imports)


def import_line(bench, what, code):
    bench.imports = code + ";"
    bench.java(what, load('LiteModuleLoader.load(assetFilePath(this, "deeplabv3_scripted.ptl"))'), "1,3,64,64", "deeplab", "out", bench.imports)


def version(bench, what, code):
    bench.python(what, code, "print(torch.__version__)")
    print("       " + bench.output.strip())


def metal(bench, what, code):
    if not bench.gpu():
        not_run.append((what, "PyTorch's headers, for stand-ins of its Metal operators, are not here (libtorch-dev)"))
        return
    if bench.python(what, code, "write('metal', model.eval(), (1, 3, 224, 224))"):
        check("metal_prepack::conv2d_run" in bench.output, what + ": a model for Metal", bench.output)
        bench.java(what + ", in an app", load('LiteModuleLoader.load(assetFilePath(this, "mobilenetv2_metal.pt"))'), "1,3,224,224", "metal",
                   imports="import org.pytorch.LiteModuleLoader;")


def metal_operators(bench, what, code):
    """Checks that Taper has the operators that the tutorial prints. Later versions of PyTorch print other operators."""
    rows = {row.name for row in op_rows.rows(ROOT)}
    for name in re.findall(r"'([^']+)'", code):
        check(name in rows, what + ": Taper has " + name)


def nnapi(bench, what, code):
    """Runs the whole script, then its float models in an app, where models for NNAPI run on the CPU."""
    then = ("import pathlib; folder = pathlib.Path(os.environ['HOME']) / 'mobilenetv2-nnapi'\n"
            "write('cpu', torch.jit.load(str(folder / 'mobilenetv2-quant_none-cpu.pt')), (1, 3, 224, 224))")
    # When PyTorch 1.13 quantizes, it replaces the Dropout by a class that is derived from it.
    code = code.replace("assert type(model.classifier[0]) == torch.nn.Dropout", "assert isinstance(model.classifier[0], torch.nn.Dropout)")
    if bench.python(what, code, then):
        for kind in ("none", "core", "full"):
            for device in ("cpu", "nnapi"):
                check(os.path.exists(bench.file("mobilenetv2-nnapi/mobilenetv2-quant_%s-%s.pt" % (kind, device))), kind + "-" + device)
        for device in ("cpu", "nnapi"):
            name = "mobilenetv2-nnapi/mobilenetv2-quant_none-%s.pt" % device
            bench.java(what + ", %s in an app" % device, load('Module.load(new File(System.getProperty("assets"), "%s").getPath())' % name),
                       "1,3,224,224", "cpu")


def benchmark(bench, what, code, model="nnapi"):
    folder = bench.file("mobilenetv2-nnapi")
    program = os.path.join(folder, "speed_benchmark_torch")
    if not os.path.exists(program):
        os.symlink(os.path.join(bench.options.programs, "speed_benchmark_torch"), program)
    done = run(["sh", "-c", code], cwd=folder)
    check(done.returncode == 0 and "Microseconds per iter:" in done.stdout, what, done.stdout)
    print("       " + done.stdout.strip().split("\n")[-1])


def allocator(bench, what, code):
    benchmark(bench, what, "./speed_benchmark_torch --model=mobilenetv2-quant_full-cpu.pt --use_bundled_input=0 --warmup=1 --iter=5 " + code)


def build(bench, what, code):
    """Builds from the checkout, with ANDROID_NDK or ANDROID_SYSROOT."""
    if not os.environ.get("ANDROID_NDK") and not os.environ.get("ANDROID_SYSROOT"):
        not_run.append((what, "neither ANDROID_NDK nor ANDROID_SYSROOT is set"))
        return
    done = run(["sh", "-c", code], cwd=ROOT)
    check(done.returncode == 0 and "BUILD SUCCESSFUL" in done.stdout, what, done.stdout)
    bench.built = done.stdout


def paths(bench, what, code):
    """Checks that the AARs are where the reader of the tutorial looks for them."""
    named = re.findall(r"pytorch/(android/\S+\.aar)$", code, re.M)
    check(len(named) == 2, what + ": two paths")
    bench.paths = named


def where(bench, what):
    for path in bench.paths if hasattr(bench, "built") else ():
        check(os.path.join(ROOT, path) in bench.built and os.path.getsize(os.path.join(ROOT, path)) > 0, what + ": " + path, bench.built)


def optimize(bench, what, code):
    # The tutorial misspells the name of this module.
    code = code.replace("torch.utils.mobile_optimzer", "torch.utils.mobile_optimizer")
    if bench.python(what, code, "write('small', my_model, (1, 3, 8, 8))"):
        bench.java(what + ", in an app", load('Module.load(assetFilePath(this, "optimized.pt"))'), "1,3,8,8", "small")


def devices(bench, what, code):
    # The tutorial has the argument inside the text, so PyTorch would read 'backend=metal' as a list of passes to omit.
    if not bench.gpu():
        not_run.append((what, "PyTorch's headers, for stand-ins of its GPU operators, are not here (libtorch-dev)"))
        return
    code = re.sub(r"'backend=(\w+)'", r"backend='\1'", code)
    then = "".join("model_%s.save('%s.pt')\nmodel_%s._save_for_lite_interpreter('%s.ptl')\n" % (d, d, d, d) for d in ("metal", "vulkan"))
    if bench.python(what, code, then + "write('gpu', model, (1, 3, 8, 8))"):
        for name in ("metal.pt", "vulkan.pt", "metal.ptl", "vulkan.ptl"):
            bench.java(what + ", %s in an app" % name, load('Module.load(assetFilePath(this, "%s"))' % name), "1,3,8,8", "gpu")


def vulkan(bench, what, code):
    if not os.path.exists(bench.file("vulkan.pt")):
        not_run.append((what, "no model was made for Vulkan"))
        return
    members = ("Module load() throws IOException {\n    %s\n    return module;\n  }"
               % code.replace("...", 'assetFilePath(this, "vulkan.pt"), null'))
    bench.java(what, members, "1,3,8,8", "gpu", imports="import org.pytorch.Device;")


TABLE = (
    ("lite-interpreter.rst", "python", "import torch\n\nmodel = torch.hub.load", deeplab),
    ("lite-interpreter.rst", "inline", "BUILD_LITE_INTERPRETER=1 ./scripts/build_pytorch_android.sh x86", build),
    ("lite-interpreter.rst", "inline", "BUILD_LITE_INTERPRETER=1 ./scripts/build_pytorch_android.sh", build),
    ("lite-interpreter.rst", "bash", "BUILD SUCCESSFUL in", paths),
    ("lite-interpreter.rst", "gradle", "dependencies {", GRADLE),
    ("lite-interpreter.rst", "gradle", "allprojects {", GRADLE),
    ("lite-interpreter.rst", "inline", "import org.pytorch.LiteModuleLoader", import_line),
    ("lite-interpreter.rst", "java", "// mModule = Module.load(", lite_loader),
    ("lite-interpreter.rst", "shell", "IOS_ARCH=arm64", IOS),
    ("lite-interpreter.rst", "objective-c", "//#import <LibTorch/LibTorch.h>", HEADERS),
    ("lite-interpreter.rst", "shell", "- timber wolf", SHOWN),
    ("ios-gpu-metal.rst", "shell", "conda install pytorch", PYTORCH),
    ("ios-gpu-metal.rst", "shell", "cd PYTORCH_ROOT", PYTORCH),
    ("ios-gpu-metal.rst", "python", "import torch\ntorch.__version__", version),
    ("ios-gpu-metal.rst", "python", "import torch\nimport torchvision", metal),
    ("ios-gpu-metal.rst", "shell", "['aten::adaptive_avg_pool2d',", metal_operators),
    ("ios-gpu-metal.rst", "shell", "- timber wolf", SHOWN),
    ("ios-gpu-metal.rst", "shell", "IOS_ARCH=arm64", IOS),
    ("ios-gpu-metal.rst", "objective-c", "...\n// #import <Libtorch-Lite/Libtorch-Lite.h>", HEADERS),
    ("nnapi-mobilenetv2.rst", "inline", "pip install --upgrade --pre", PYTORCH),
    ("nnapi-mobilenetv2.rst", "python", "#!/usr/bin/env python", nnapi),
    ("nnapi-mobilenetv2.rst", "shell", "./speed_benchmark_torch --pthreadpool_size=1", benchmark),
    ("nnapi-mobilenetv2.rst", "inline", "--use_caching_allocator=true", allocator),
    ("mobile-notes.txt", "shell", "cd /home/[USER]git clone", PYTORCH),
    ("mobile-notes.txt", "shell", "./gradlew installDebug", GRADLE),
    ("mobile-notes.txt", "python", "from torch.utils.mobile_optimzer", optimize),
    ("mobile-notes.txt", "c++", "c10::CPUCachingAllocator allocator;", HEADERS),
    ("mobile-notes.txt", "python", "model_metal = optimize_for_mobile", devices),
    ("mobile-notes.txt", "c++", "torch::Tensor input_cpu", HEADERS),
    ("mobile-notes.txt", "java", "Module module = Module.load(..., Device.VULKAN);", vulkan),
)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("programs", "libraries", "classes", "stubs"):
        parser.add_argument("--" + name, required=True, type=os.path.abspath)
    options = parser.parse_args()
    if not os.path.isdir(TUTORIALS):
        print("SKIPPED: the tutorials' sources are not here: ../shared/reference/tutorials, or TUTORIALS")
        sys.exit(77)
    if run([PYTHON, "-c", "import torch, torchvision, numpy"]).returncode:
        print("SKIPPED: PyTorch or torchvision is not here (packages python3-torch, python3-torchvision)")
        sys.exit(77)
    found = [(name, language, code) for name in sorted(os.listdir(TUTORIALS)) if name.endswith((".rst", ".txt"))
             for language, code in snippets(name)]
    taken = set()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, folder)
        for name, language, beginning, action in TABLE:
            what = "%s, %s: %s" % (name, language, beginning.replace("\n", " "))
            at = next((i for i, f in enumerate(found) if i not in taken and f[:2] == (name, language) and f[2].startswith(beginning)), None)
            if at is None:
                check(False, what + " is not in the tutorial")
                continue
            taken.add(at)
            action(bench, what, found[at][2])
        where(bench, "lite-interpreter.rst: where the AARs lie")
    for i, (name, language, code) in enumerate(found):
        if i not in taken:
            check(False, "%s, %s: not in the table: %s" % (name, language, code[:200]))
    for what, reason in not_run:
        print("not run  %s: %s" % (what, reason))
    print("%d snippets, %d of them not run here" % (len(found), len(not_run)))
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
