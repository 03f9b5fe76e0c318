#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tutorials_test.py --taper PROGRAM --library FILE --objc FILE --include DIR… --objects DIR --demo DIR: tests the Objective-C++ in PyTorch
Mobile's tutorials for iOS, unmodified. clang++ compiles the code as C++14, 17 and 20 inside a minimal class, and it runs with the demo's
classifier. The code must give the scores of `taper run`, or the error that Metal is missing. The tutorials are not part of this repository
(../shared/reference/tutorials, or TUTORIALS): exit 77 if they are missing."""
import argparse
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TUTORIALS = os.environ.get("TUTORIALS", os.path.join(os.path.dirname(ROOT), "shared", "reference", "tutorials"))
SIZES = (1, 3, 224, 224)
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]

# The parts that the tutorials omit: the declaration of the class, and code that uses the tensor.
CLASS = """
#import <Foundation/Foundation.h>
#include <cstdio>
%(headers)s

@interface TorchModule : NSObject {
    torch::jit::mobile::Module _impl;
}
- (nullable instancetype)initWithFileAtPath:(nonnull NSString *)path;
- (nullable NSArray<NSNumber*>*)predictImage:(nonnull void*)imageBuffer;
@end

@implementation TorchModule

- (nullable instancetype)initWithFileAtPath:(NSString *)path
{
    self = [super init];
    _impl = torch::jit::_load_for_mobile([path UTF8String]);
    return self;
}

%(method)s

@end

int main(int argc, char **argv)
{
    if (argc != 3) {
        return 2;
    }
    NSAutoreleasePool *const pool = [[NSAutoreleasePool alloc] init];
    static float image[3 * 224 * 224];
    FILE *const file = std::fopen(argv[2], "rb");
    if (std::fread(image, sizeof image, 1, file) != 1) {
        return 1;
    }
    std::fclose(file);
    TorchModule *const module = [[TorchModule alloc] initWithFileAtPath:[NSString stringWithUTF8String:argv[1]]];
    NSArray<NSNumber*> *const scores = [module predictImage:image];
    for (NSUInteger i = 0; i < [scores count]; i++) {
        std::printf("%%.9g\\n", [[scores objectAtIndex:i] doubleValue]);
    }
    [module release];
    [pool drain];
    return 0;
}
"""
REST = """
      NSMutableArray<NSNumber*> *results = [NSMutableArray arrayWithCapacity:20];
      for (int64_t i = 0; i < outputTensor.numel(); i++) {
        [results addObject:@(outputTensor.data_ptr<float>()[i])];
      }
      return results;
"""


def snippets(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    for match in re.finditer(r"^\.\. code:: objective-c\n((?:[ ].*\n|\n)+)", text, re.M):
        yield match.group(1)


def source_of(snippet):
    """Returns the code of a class that contains both parts of a snippet."""
    at = snippet.index("- (")
    headers = "".join(line + "\n" for line in snippet[:at].split("\n") if line.strip() != "...")
    method = snippet[at:snippet.rindex("}") + 1]
    assert method.count("...") == 1, method
    return CLASS % {"headers": headers, "method": method.replace("...", REST)}


def write_npy(path, values):
    head = ("{'descr': '<f4', 'fortran_order': False, 'shape': %s, }" % (SIZES,)).ljust(117) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + values)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("taper", "library", "objc", "objects", "demo", "compiler"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--system", action="append", default=[])
    options = parser.parse_args()
    if not os.path.isdir(TUTORIALS):
        print("SKIPPED: the tutorials' sources are not here: ../shared/reference/tutorials, or TUTORIALS")
        return 77
    passed = failed = 0
    model = os.path.join(options.demo, "classifier.ptl")
    with tempfile.TemporaryDirectory() as scratch:
        random.seed(1)
        values = struct.pack("<%df" % (3 * 224 * 224), *(random.gauss(0, 1) for _ in range(3 * 224 * 224)))
        image, array = os.path.join(scratch, "image"), os.path.join(scratch, "image.npy")
        with open(image, "wb") as file:
            file.write(values)
        write_npy(array, values)
        wanted = json.loads(subprocess.run([options.taper, "run", model, "-i", array, "--json"], capture_output=True, check=True, text=True).stdout)
        while isinstance(wanted, dict):
            wanted = next(v for k, v in wanted.items() if k in ("output", "data", "values"))
        wanted = wanted[0]
        for name in ("ios-gpu-metal.rst", "lite-interpreter.rst"):
            found = list(snippets(os.path.join(TUTORIALS, name)))
            if len(found) != 1:
                failed += 1
                print("FAILED  %s has %d snippets, not 1" % (name, len(found)))
            for snippet in found:
                source, program = os.path.join(scratch, "TorchModule.mm"), os.path.join(scratch, "program")
                for standard in ("14", "17", "20"):
                    with open(source, "w", encoding="utf-8") as file:
                        file.write(source_of(snippet))
                    what = "%s as C++%s" % (name, standard)
                    command = [options.compiler, "-std=c++" + standard, "-fobjc-runtime=gcc", "-fconstant-string-class=NSConstantString", *WARNINGS,
                               *("-I" + folder for folder in options.include), *("-isystem" + folder for folder in options.system), source,
                               *(os.path.join(options.objects, one + ".o") for one in ("foundation.m", "pixel_buffer.c", "personality.cpp")),
                               options.library, options.objc, "-lz", "-lm", "-lpthread", "-ldl", "-o", program]
                    done = subprocess.run(command, capture_output=True, text=True, check=False)
                    if done.returncode == 0:
                        done = subprocess.run([program, model, image], capture_output=True, text=True, check=False)
                    scores = [float(line) for line in done.stdout.split()] if done.returncode == 0 else []
                    if len(scores) == len(wanted) and all(abs(a - b) < 1e-5 * (1 + abs(b)) for a, b in zip(scores, wanted)):
                        passed += 1
                    else:
                        failed += 1
                        print("FAILED  %s: %s %s, not %s" % (what, done.stderr[-2000:], scores, wanted))
    print("%d passed, %d failed" % (passed, failed))
    return int(failed != 0)


if __name__ == "__main__":
    sys.exit(main())
