// SPDX-License-Identifier: BSD-2-Clause
import UIKit

extension UIImage {
    /// Returns the picture resized to width x height, prepared for networks of ImageNet: all red, then all green, then
    /// all blue values, each minus its mean and divided by its standard deviation.
    func normalized(width: Int, height: Int) -> [Float32]? {
        var pixels = [UInt8](repeating: 0, count: width * height * 4)
        guard let image = cgImage, let space = CGColorSpace(name: CGColorSpace.sRGB),
            let context = CGContext(
                data: &pixels, width: width, height: height, bitsPerComponent: 8, bytesPerRow: width * 4, space: space,
                bitmapInfo: CGImageAlphaInfo.noneSkipLast.rawValue)
        else {
            return nil
        }
        context.interpolationQuality = .high
        context.draw(image, in: CGRect(x: 0, y: 0, width: width, height: height))
        let mean: [Float32] = [0.485, 0.456, 0.406], deviation: [Float32] = [0.229, 0.224, 0.225]
        var numbers = [Float32](repeating: 0, count: 3 * width * height)
        for channel in 0..<3 {
            for i in 0..<(width * height) {
                let value = Float32(pixels[4 * i + channel]) / 255
                numbers[channel * width * height + i] = (value - mean[channel]) / deviation[channel]
            }
        }
        return numbers
    }
}
