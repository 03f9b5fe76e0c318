// SPDX-License-Identifier: BSD-2-Clause
// Ends with 0 if an operator of PyTorch and one of torchvision give the right result.
#include <torch/script.h>
#include <torchvision/vision.h>

int main()
{
    const at::Tensor boxes = torch::tensor({{0., 0., 4., 4.}, {0., 0., 4., 3.9}, {5., 5., 6., 6.}});
    const at::Tensor kept = vision::ops::nms(boxes, torch::tensor({0.5, 0.9, 0.1}), 0.5);
    return kept.numel() == 2 && kept[0].item<int64_t>() == 1 && vision::cuda_version() == -1 ? 0 : 1;
}
