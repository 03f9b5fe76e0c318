// SPDX-License-Identifier: BSD-2-Clause
// The transforms of Winograd's F(4x4, 3x3): six inputs become six numbers, and six products become four results (Lavin
// and Gray, "Fast algorithms for convolutional neural networks").
const uint TILE = 4u, SIDE = 6u;

void input_six(inout vec4 x[6])
{
    vec4 a = x[4] - 4.0 * x[2], b = x[3] - 4.0 * x[1], c = x[4] - x[2], d = 2.0 * (x[3] - x[1]);
    vec4 first = 4.0 * x[0] - 5.0 * x[2] + x[4], last = 4.0 * x[1] - 5.0 * x[3] + x[5];
    x[0] = first;
    x[1] = a + b;
    x[2] = a - b;
    x[3] = c + d;
    x[4] = c - d;
    x[5] = last;
}

void output_four(vec4 x[6], out vec4 y[4])
{
    vec4 a = x[1] + x[2], b = x[1] - x[2], c = x[3] + x[4], d = x[3] - x[4];
    y[0] = x[0] + a + c;
    y[1] = b + 2.0 * d;
    y[2] = a + 4.0 * c;
    y[3] = b + 8.0 * d + x[5];
}
