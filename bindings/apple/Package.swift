// swift-tools-version:5.9
// SPDX-License-Identifier: BSD-2-Clause
// The Swift package that `./dev apple` puts together in build/apple/package, from where Xcode takes it: the library from the
// xcframework (Taper), or compiled with the app (TaperFromSource). The class is TPRModule; LibTorchLite has the C++ headers
// of PyTorch Mobile's pods.
import PackageDescription

let package = Package(
    name: "Taper",
    platforms: [.iOS(.v12), .macOS(.v11)],
    products: [
        .library(name: "Taper", targets: ["Taper"]),
        .library(name: "LibTorchLite", targets: ["LibTorchLite"]),
        .library(name: "TaperFromSource", targets: ["TaperFromSource"]),
    ],
    targets: [
        .binaryTarget(name: "CTaper", path: "Taper.xcframework"),
        .target(
            name: "Taper",
            dependencies: ["CTaper"],
            resources: [.copy("PrivacyInfo.xcprivacy")],
            linkerSettings: [.linkedLibrary("z"), .linkedFramework("CoreVideo"), .linkedFramework("Metal")]),
        .target(
            name: "LibTorchLite",
            dependencies: ["CTaper"],
            resources: [.copy("PrivacyInfo.xcprivacy")],
            linkerSettings: [.linkedLibrary("z"), .linkedLibrary("c++"), .linkedFramework("Metal")]),
        .target(
            name: "TaperFromSource",
            resources: [.copy("PrivacyInfo.xcprivacy")],
            cSettings: [
                .headerSearchPath("src"),
                .headerSearchPath("generated"),
                // What these say of numbers and of memory is what the library is tested with.
                .unsafeFlags([
                    "-Os", "-fno-strict-aliasing", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off",
                    "-ffunction-sections", "-fdata-sections", "-fvisibility=hidden",
                ]),
                // DEFINITIONS
            ],
            linkerSettings: [.linkedLibrary("z"), .linkedFramework("CoreVideo"), .linkedFramework("Metal")]),
    ],
    cLanguageStandard: .c11,
    cxxLanguageStandard: .cxx14
)
