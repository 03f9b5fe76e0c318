// SPDX-License-Identifier: BSD-2-Clause
// nnapi_test FILE DEVICE ENABLED WANTED: loads a file converted for NNAPI, for DEVICE ("cpu", or "none" for no device),
// and runs it. WANTED is 1 if the run must load Android's NNAPI library, and 0 if it must not; an imitation of that
// library is on LD_LIBRARY_PATH.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include <torch/script.h>

static bool has_library()
{
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        if (line.find("libneuralnetworks.so") != std::string::npos) {
            return true;
        }
    }
    return false;
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        return 2;
    }
    taper::cpp::set_nnapi_enabled(std::strcmp(argv[3], "1") == 0);
    c10::optional<c10::Device> device;
    if (std::strcmp(argv[2], "none") != 0) {
        device = c10::Device(argv[2]);
    }
    torch::jit::Module module = torch::jit::load(argv[1], device);
    torch::jit::mobile::Module mobile = torch::jit::_load_for_mobile(argv[1], device);
    const at::Tensor input = torch::ones({2, 3, 8, 13});
    const at::Tensor one = module.forward({input}).toTensor(), other = mobile.forward({input}).toTensor();
    const bool good = has_library() == (std::strcmp(argv[4], "1") == 0) && at::allclose(one, other);
    std::printf("%d passed, %d failed\n", good, !good);
    return good ? 0 : 1;
}
