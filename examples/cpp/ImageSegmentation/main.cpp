// SPDX-License-Identifier: BSD-2-Clause
// image_segmentation MODEL IMAGE.ppm MASK.pgm: writes the class number of each pixel to MASK.pgm and prints the share
// of each class.
#include <torch/script.h>

#include <fstream>
#include <iostream>
#include <string>
#include <vector>

// Reads a binary PPM with one byte for each colour and returns a tensor of sizes 1, 3, height, width.
static at::Tensor read_picture(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    std::string magic;
    int64_t height = 0, width = 0, most = 0;
    file >> magic >> width >> height >> most;
    file.get();
    if (!file || magic != "P6" || most != 255 || width < 1 || height < 1 || width > 4096 || height > 4096) {
        throw std::runtime_error(path + " is no binary PPM");
    }
    at::Tensor bytes = torch::empty({height, width, 3}, at::kByte);
    if (!file.read(static_cast<char *>(bytes.data_ptr()), static_cast<std::streamsize>(bytes.nbytes()))) {
        throw std::runtime_error(path + " ends early");
    }
    const at::Tensor mean = torch::tensor({0.485F, 0.456F, 0.406F}),
                     deviation = torch::tensor({0.229F, 0.224F, 0.225F});
    return ((bytes.to(at::kFloat) / 255 - mean) / deviation).permute({2, 0, 1}).unsqueeze(0).contiguous();
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        std::cerr << "usage: image_segmentation MODEL IMAGE.ppm MASK.pgm\n";
        return 2;
    }
    try {
        torch::jit::script::Module module = torch::jit::load(argv[1]);
        module.eval();

        const at::Tensor picture = read_picture(argv[2]);
        const c10::IValue result = module.forward({picture});
        // torchvision's DeepLabV3 returns a dict, models with another interface return only the scores.
        const at::Tensor scores =
            result.isGenericDict() ? result.toGenericDict().at("out").toTensor() : result.toTensor();
        const at::Tensor classes = scores.argmax(1).squeeze(0);

        const at::Tensor mask = classes.to(at::kByte).contiguous();
        std::ofstream file(argv[3], std::ios::binary);
        file << "P5\n" << mask.size(1) << " " << mask.size(0) << "\n255\n";
        file.write(static_cast<const char *>(mask.data_ptr()), static_cast<std::streamsize>(mask.numel()));
        if (!file.flush()) {
            throw std::runtime_error(std::string(argv[3]) + " cannot be written");
        }
        const at::Tensor counts =
            torch::bincount(classes.flatten(), {}, scores.size(1)).to(at::kDouble) / classes.numel();
        for (int64_t i = 0; i < counts.numel(); i++) {
            std::cout << counts[i].item<double>() << "\n";
        }
    } catch (const std::exception &error) {
        std::cerr << "image_segmentation: " << error.what() << "\n";
        return 1;
    }
    return 0;
}
