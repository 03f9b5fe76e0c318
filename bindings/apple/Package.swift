// swift-tools-version:5.9
// SPDX-License-Identifier: BSD-2-Clause
// The Swift package that `./dev apple` assembles in build/apple/package for Xcode. Product Taper has the library as an
// xcframework; TaperFromSource compiles it with the app. Both have the class TPRModule. LibTorchLite has the C++ headers
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
                // The tests are compiled with the same flags for arithmetic and memory.
                .unsafeFlags([
                    "-Os", "-fno-strict-aliasing", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off",
                    "-ffunction-sections", "-fdata-sections", "-fvisibility=hidden",
                ]),
                // DEFINITIONS: scripts/apple/package.py replaces this line by the definitions of the build.
            ],
            linkerSettings: [.linkedLibrary("z"), .linkedFramework("CoreVideo"), .linkedFramework("Metal")]),
    ],
    cLanguageStandard: .c11,
    cxxLanguageStandard: .cxx14
)
