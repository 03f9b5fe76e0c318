# SPDX-License-Identifier: BSD-2-Clause
# A formula of this tree: `brew install --HEAD --build-from-source packaging/homebrew/taper.rb`, with HOMEBREW_TAPER_SOURCE naming the tree
# (a git repository).
class Taper < Formula
  desc "Runs the models that PyTorch saved for mobile, without PyTorch"
  homepage "file://#{ENV.fetch("HOMEBREW_TAPER_SOURCE", ".")}"
  license "BSD-2-Clause"
  head ENV.fetch("HOMEBREW_TAPER_SOURCE", "."), using: :git

  depends_on "cmake" => :build
  depends_on "ninja" => :build
  depends_on "jpeg-turbo"
  depends_on "libpng"
  uses_from_macos "zlib"

  def install
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DTAPER_BUILD_TESTS=OFF", "-DTAPER_BUILD_BENCH=OFF",
           "-DTAPER_WITH_PYTHON=OFF", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    demo = doc/"examples/demo"
    assert_match "pizza", shell_output("#{bin}/taper classify #{demo}/classifier.ptl #{demo}/images/picnic.jpg")
  end
end
