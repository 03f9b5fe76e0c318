#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""counts.py FOLDER [MODEL...] [--system arm64|armhf] [--size N] [--precision P] [--cores A,B] [--top N] [--mca] [--torch SCRIPT_FOLDER]

Counts the instructions (in millions) of one inference on arm64, or 32-bit ARM (armhf), for each model and core. The script cross-builds the library
in FOLDER, once for each system, links it with infer.c, and runs the program under qemu-user with count.c. The models' inputs are images. The counts
are reproducible, because they depend only on the files and the sources.

--top N lists the functions with the most instructions. --torch adds the counts of PyTorch lite for the same file (XNNPACK; no int8), using
torch.sh and torch_lite.py of that folder. --mca uses llvm-mca to estimate the inner loops with at least 8 product instructions on several cores:
products and instructions of an iteration, then cycles per product on each core.

Needs the packages of that system's target (tests/targets/targets.tsv), qemu-user with plugins, and llvm for --mca."""
import argparse
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SYSTEMS = {"arm64": ("aarch64-linux-gnu", "qemu-aarch64", "cortex-a53,cortex-a76,max"),
           "armhf": ("arm-linux-gnueabihf", "qemu-arm", "cortex-a9")}  # prefix of the compiler's name, emulator, core
MCA_CORES = ["cortex-a55", "neoverse-n1", "neoverse-v1", "apple-m1"]
PRODUCT = re.compile(r"\s(fmla|fmls|fmul|smlal2?|smull2?|umlal2?|umull2?|smmla|usmmla|sdot|udot|usdot|sadalp|smlsl2?)\s")


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit("%s: exit %d\n%s" % (" ".join(command), done.returncode, (done.stdout + done.stderr)[-3000:]))
    return done


def build(folder, system):
    """Returns the paths of the program and of the plugin."""
    libraries, tree = os.path.join(folder, "libraries"), os.path.join(folder, "build")
    run(os.path.join(ROOT, "scripts", "foreign_libraries.sh"), system, libraries)
    off = ["-DTAPER_%s=OFF" % x for x in ("BUILD_TESTS", "BUILD_TOOLS", "BUILD_BENCH", "WITH_LAPACK", "WITH_NNAPI")]
    run("cmake", "-S", ROOT, "-B", tree, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DTAPER_FOREIGN=" + system, *off,
        "-DCMAKE_TOOLCHAIN_FILE=" + os.path.join(ROOT, "cmake", "DebianForeign.cmake"),
        "-DTAPER_FOREIGN_ROOT=" + os.path.join(libraries, "root"))
    run("cmake", "--build", tree, "--target", "taper")
    program, plugin = os.path.join(folder, "infer"), os.path.join(folder, "count.so")
    # The program is static and has fixed addresses, so that addresses have the names of functions.
    run(SYSTEMS[system][0] + "-gcc", "-std=gnu11", "-O2", "-static", "-no-pie", "-I" + os.path.join(ROOT, "include"),
        os.path.join(HERE, "infer.c"), os.path.join(tree, "lib", "libtaper.a"),
        "-L" + os.path.join(libraries, "root", "usr", "lib", SYSTEMS[system][0]), "-lz", "-lpthread", "-lm", "-o", program)
    run("cc", "-shared", "-fPIC", "-O1", os.path.join(HERE, "count.c"), "-o", plugin)
    return program, plugin


def marks(text):
    """Returns (instructions, [(instructions of a function, its name)]) of the last mark in the text."""
    found = re.split(r"^mark ", text, flags=re.M)[-1]
    total = int(found.split(None, 2)[1])
    return total, re.findall(r"^function (\d+) (.*)$", found, flags=re.M)


def count(program, plugin, core, model, options):
    return marks(run(SYSTEMS[options.system][1], "-cpu", core, "-plugin", "%s,top=%d" % (plugin, options.top), program, model, str(options.size),
                     options.precision).stderr)


def count_torch(scripts, folder, core, model, size):
    import numpy
    with tempfile.TemporaryDirectory() as scratch:
        image = os.path.join(scratch, "image.npy")
        numpy.save(image, numpy.zeros((1, 3, size, size), numpy.float32))
        text = run(os.path.join(scripts, "torch.sh"), os.path.join(folder, "torch"), "-cpu", core,
                   os.path.join(scripts, "torch_lite.py"), model, image, "channels_last").stderr
    return int(re.findall(r"(\d+) instructions", text)[-1])


# ---- llvm-mca

def inner_loops(assembly):
    """Yields (label, lines) of loops that contain no other loop."""
    lines = [line.split("//")[0].rstrip() for line in assembly.splitlines()]
    places, function = {}, "?"
    for i, line in enumerate(lines):
        label = re.match(r"^\s*([.\w]+):", line)
        if label:
            places[label.group(1)] = i, function
            # A label that is a number belongs to inline assembly, and may occur several times.
            if not re.match(r"[.\d]", label.group(1)):
                function = label.group(1)
        branch = re.search(r"\s(?:b\.?\w*|cbn?z|tbn?z)\s.*?(?:(\.L\w+)|(\d+)b)$", line)
        if branch and (branch.group(1) or branch.group(2)) in places:
            begin, name = places[branch.group(1) or branch.group(2)]
            body = lines[begin + 1:i + 1]
            if not any(re.search(r"\s(?:b\.?\w*|cbn?z|tbn?z)\s.*?(\.L\w+|\d+[bf])$", x) for x in body[:-1]):
                # The branch at the end gets the target 0, because llvm-mca has no labels.
                yield name, [x for x in body[:-1] + [re.sub(r"\S+$", "0", body[-1])]
                             if x.strip() and not x.strip().startswith((".", "#")) and not re.match(r"^\s*\S+:", x)]


def mca():
    listing = run("cmake", "-DTAPER_ARCHITECTURE=arm", "-P", os.path.join(ROOT, "cmake", "TaperIsa.cmake")).stdout
    definitions = re.search(r"^definitions (.*)$", listing, flags=re.M).group(1).split()
    print("%-44s %8s %8s  %s" % ("inner loop", "products", "instr.", " ".join("%11s" % c for c in MCA_CORES)))
    for line in listing.splitlines():
        if "/arm/" not in line or "vector" in line:
            continue
        source, *flags = line.split()
        text = run("aarch64-linux-gnu-gcc", "-std=c11", "-O2", "-S", "-o", "-", *definitions, *flags, "-I" + ROOT,
                   "-I" + os.path.join(ROOT, "src"), "-I" + os.path.join(ROOT, "include"), os.path.join(ROOT, source)).stdout
        for name, loop in inner_loops(text):
            products = sum(bool(PRODUCT.search(x)) for x in loop)
            if products < 8:
                continue
            costs = []
            for core in MCA_CORES:
                # A core may lack the newest instructions, so these are enabled by name.
                answer = subprocess.run(["llvm-mca", "-mtriple=aarch64-linux-gnu", "-mcpu=" + core, "-mattr=+dotprod,+i8mm,+fullfp16",
                                         "-iterations=100"], input="\n".join(loop) + "\n", capture_output=True, text=True)
                cycles = re.search(r"Total Cycles:\s+(\d+)", answer.stdout)
                costs.append("%11.2f" % (int(cycles.group(1)) / 100 / products) if cycles else "%11s" % "?")
            label = os.path.basename(source)[:-2] + " " + name.replace("strip_", "rows ")
            print("%-44s %8d %8d  %s" % (label, products, len(loop), " ".join(costs)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("models", nargs="*")
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--precision", default="fp32")
    parser.add_argument("--system", choices=SYSTEMS, default="arm64")
    parser.add_argument("--cores")
    parser.add_argument("--top", type=int, default=0)
    parser.add_argument("--mca", action="store_true")
    parser.add_argument("--torch")
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    if options.models:
        program, plugin = build(os.path.abspath(options.folder), options.system)
        print("%-40s %-12s %10s%s" % ("model", "core", "Taper", "    PyTorch  ratio" if options.torch else ""))
    for model in options.models:
        for core in (options.cores or SYSTEMS[options.system][2]).split(","):
            total, functions = count(program, plugin, core, model, options)
            beside = ""
            if options.torch:
                other = count_torch(options.torch, os.path.abspath(options.folder), core, model, options.size)
                beside = " %10.1f %6.3f" % (other / 1e6, total / other)
            print("%-40s %-12s %10.2f%s" % (os.path.basename(model), core, total / 1e6, beside), flush=True)
            for executed, name in functions:
                print("    %8.2f %5.1f %%  %s" % (int(executed) / 1e6, 100 * int(executed) / total, name))
    if options.mca:
        mca()


if __name__ == "__main__":
    main()
