// SPDX-License-Identifier: BSD-2-Clause
// hello_world MODEL IMAGE.ppm LABELS: loads a model, runs it on a picture and prints the three most probable classes.
#include <torch/script.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

// Reads a binary PPM with one byte for each colour and returns the model's input: floats, channel after channel.
static std::vector<float> read_picture(const std::string &path, int64_t &height, int64_t &width)
{
    const float mean[] = {0.485F, 0.456F, 0.406F}, deviation[] = {0.229F, 0.224F, 0.225F};
    std::ifstream file(path, std::ios::binary);
    std::string magic;
    int64_t most = 0;
    file >> magic >> width >> height >> most;
    file.get();
    if (!file || magic != "P6" || most != 255 || width < 1 || height < 1 || width > 4096 || height > 4096) {
        throw std::runtime_error(path + " is no binary PPM");
    }
    const size_t count = static_cast<size_t>(width * height);
    std::vector<unsigned char> bytes(count * 3);
    if (!file.read(reinterpret_cast<char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()))) {
        throw std::runtime_error(path + " ends early");
    }
    std::vector<float> numbers(count * 3);
    for (size_t channel = 0; channel < 3; channel++) {
        for (size_t i = 0; i < count; i++) {
            numbers[channel * count + i] = (bytes[i * 3 + channel] / 255.0F - mean[channel]) / deviation[channel];
        }
    }
    return numbers;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        std::cerr << "usage: hello_world MODEL IMAGE.ppm LABELS\n";
        return 2;
    }
    try {
        torch::jit::script::Module module = torch::jit::load(argv[1]);
        module.eval();

        int64_t height = 0, width = 0;
        std::vector<float> picture = read_picture(argv[2], height, width);
        at::Tensor input = torch::from_blob(picture.data(), {1, 3, height, width}, at::kFloat);
        at::Tensor scores = module.forward({input}).toTensor().softmax(1);

        std::vector<std::string> labels;
        std::ifstream names(argv[3]);
        for (std::string line; std::getline(names, line);) {
            labels.push_back(line);
        }
        const float *score = scores.data_ptr<float>();
        std::vector<size_t> order(static_cast<size_t>(scores.numel()));
        std::iota(order.begin(), order.end(), size_t{0});
        std::sort(order.begin(), order.end(), [score](size_t a, size_t b) { return score[a] > score[b]; });
        for (size_t i = 0; i < 3 && i < order.size(); i++) {
            std::cout << (order[i] < labels.size() ? labels[order[i]] : std::to_string(order[i])) << " "
                      << score[order[i]] << "\n";
        }
    } catch (const std::exception &error) {
        std::cerr << "hello_world: " << error.what() << "\n";
        return 1;
    }
    return 0;
}
