// SPDX-License-Identifier: BSD-2-Clause
// hello_world MODEL IMAGE.ppm LABELS: uses the class of examples/ios/HelloWorld as its Swift code does and prints the
// three most probable classes.
#import "HelloWorld/HelloWorld/TorchBridge/TorchModule.h"

#include <cmath>
#include <fstream>
#include <iostream>
#include <string>

#include "picture.h"

static int run(char **argv)
{
    TorchModule *const module =
        [[[TorchModule alloc] initWithFileAtPath:[NSString stringWithUTF8String:argv[1]]] autorelease];
    int width = 0, height = 0;
    std::vector<float> pixels = read_picture(argv[2], &width, &height);
    if (module == nil || width != 96 || height != 96 || pixels.empty()) {
        std::cerr << "hello_world: the model or the picture cannot be read\n";
        return 1;
    }
    NSArray<NSNumber *> *const scores = [module predictImage:pixels.data()];
    std::vector<std::string> labels;
    std::ifstream names(argv[3]);
    for (std::string line; std::getline(names, line);) {
        labels.push_back(line);
    }
    if (scores == nil || [scores count] != labels.size()) {
        std::cerr << "hello_world: no scores\n";
        return 1;
    }
    std::vector<bool> said(labels.size());
    for (int place = 0; place < 3; place++) {
        size_t best = labels.size();
        for (size_t i = 0; i < labels.size(); i++) {
            if (!said[i] && (best == labels.size() ||
                             [[scores objectAtIndex:i] floatValue] > [[scores objectAtIndex:best] floatValue])) {
                best = i;
            }
        }
        said[best] = true;
        std::cout << labels[best] << " " << [[scores objectAtIndex:best] floatValue] << "\n";
    }
    return 0;
}

int main(int argc, char **argv)
{
    NSAutoreleasePool *const pool = [[NSAutoreleasePool alloc] init];
    const int status = argc == 4 ? run(argv) : 2;
    [pool drain];
    return status;
}
