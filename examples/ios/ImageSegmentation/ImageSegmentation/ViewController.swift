// SPDX-License-Identifier: BSD-2-Clause
import UIKit

/// Segments a picture with DeepLabV3 and shows each pixel in the colour of its class.
class ViewController: UIViewController {
    private static let side = 192
    private static let colors: [UInt32] = [
        0x000000, 0xff9f1c, 0xffd60a, 0x9b5de5, 0xf15bb5, 0x2ec27e, 0xc6ff00, 0xfb5607, 0xe01e5a, 0x3a86ff, 0x00e5ff,
    ]
    private let picture = UIImage(named: "garden.jpg")
    private let image = UIImageView()
    private let button = UIButton(type: .system)

    private lazy var module: TorchModule? = {
        guard let path = Bundle.main.path(forResource: "segmenter", ofType: "ptl") else { return nil }
        return TorchModule(fileAtPath: path)
    }()

    override func viewDidLoad() {
        super.viewDidLoad()
        view.backgroundColor = .white
        image.image = picture
        image.contentMode = .scaleAspectFit
        button.setTitle("Segment", for: .normal)
        button.addTarget(self, action: #selector(segment), for: .touchUpInside)
        let rows = UIStackView(arrangedSubviews: [image, button])
        rows.axis = .vertical
        rows.frame = view.bounds
        rows.autoresizingMask = [.flexibleWidth, .flexibleHeight]
        view.addSubview(rows)
    }

    @objc private func segment() {
        let side = ViewController.side
        guard let module = module, var pixels = picture?.normalized(width: side, height: side) else { return }
        button.isEnabled = false
        DispatchQueue.global().async {
            let classes = module.segmentImage(&pixels, withWidth: Int32(side), withHeight: Int32(side))
            let segmented = classes.flatMap { ViewController.painted(classes: $0, side: side) }
            DispatchQueue.main.async {
                self.image.image = segmented ?? self.picture
                self.button.isEnabled = true
            }
        }
    }

    private static func painted(classes: Data, side: Int) -> UIImage? {
        var pixels = [UInt8]()
        pixels.reserveCapacity(classes.count * 4)
        for number in classes {
            let color = colors[Int(number)]
            pixels += [UInt8(color >> 16 & 255), UInt8(color >> 8 & 255), UInt8(color & 255), 255]
        }
        guard let space = CGColorSpace(name: CGColorSpace.sRGB), let provider = CGDataProvider(data: Data(pixels) as CFData),
            let painted = CGImage(
                width: side, height: side, bitsPerComponent: 8, bitsPerPixel: 32, bytesPerRow: side * 4, space: space,
                bitmapInfo: CGBitmapInfo(rawValue: CGImageAlphaInfo.noneSkipLast.rawValue), provider: provider, decode: nil,
                shouldInterpolate: false, intent: .defaultIntent)
        else {
            return nil
        }
        return UIImage(cgImage: painted)
    }
}
