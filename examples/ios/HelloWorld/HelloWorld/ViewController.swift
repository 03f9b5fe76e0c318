// SPDX-License-Identifier: BSD-2-Clause
import UIKit

/// Classifies a picture with MobileNetV2 and shows the three most probable classes.
class ViewController: UIViewController {
    private let names = [
        "dog", "cat", "panda", "penguin", "owl", "fish", "butterfly", "tree", "sunflower", "mushroom", "pizza", "burger",
        "ice cream", "strawberry", "banana", "car", "bicycle", "airplane", "rocket", "guitar",
    ]
    private let image = UIImageView(image: UIImage(named: "lake.jpg"))
    private let text = UILabel()

    private lazy var module: TorchModule? = {
        guard let path = Bundle.main.path(forResource: "classifier", ofType: "ptl") else { return nil }
        return TorchModule(fileAtPath: path)
    }()

    override func viewDidLoad() {
        super.viewDidLoad()
        view.backgroundColor = .white
        image.contentMode = .scaleAspectFit
        text.numberOfLines = 0
        let rows = UIStackView(arrangedSubviews: [image, text])
        rows.axis = .vertical
        rows.frame = view.bounds
        rows.autoresizingMask = [.flexibleWidth, .flexibleHeight]
        view.addSubview(rows)
        text.text = classify()
    }

    private func classify() -> String {
        guard let module = module, var pixels = image.image?.normalized(width: 96, height: 96),
            let scores = module.predictImage(&pixels)
        else {
            return "The model or the picture cannot be read."
        }
        let best = zip(names, scores.map { $0.floatValue }).sorted { $0.1 > $1.1 }.prefix(3)
        return best.map { $0.0 }.joined(separator: "\n")
    }
}
