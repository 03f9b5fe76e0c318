# SPDX-License-Identifier: BSD-2-Clause
# `conan create packaging/conan` builds Taper from this tree.
import os

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy


class TaperConan(ConanFile):
    name = "taper"
    version = "0.2.0"
    license = "BSD-2-Clause"
    description = "Runs the models that PyTorch saved for mobile, without PyTorch"
    topics = ("pytorch", "inference", "mobile", "torchscript")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "tools": [True, False]}
    default_options = {"shared": False, "tools": False}
    languages = "C"

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..")
        for pattern in ("CMakeLists.txt", "LICENSE", "*.md", "cmake/*", "src/*", "include/*", "tools/*", "bindings/*", "docs/*", "examples/*"):
            copy(self, pattern, root, self.export_sources_folder)

    def requirements(self):
        self.requires("zlib/[>=1.2.11 <2]")
        if self.options.tools:
            self.requires("libpng/[>=1.6 <2]")
            self.requires("libjpeg-turbo/[>=2.1 <4]")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self) # sets BUILD_SHARED_LIBS from the option
        toolchain.cache_variables["TAPER_BUILD_TOOLS"] = bool(self.options.tools)
        for name in ("TAPER_BUILD_TESTS", "TAPER_BUILD_BENCH", "TAPER_WITH_PYTHON", "TAPER_WITH_VULKAN"):
            toolchain.cache_variables[name] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        self.cpp_info.libs = ["taper"]
        self.cpp_info.set_property("cmake_file_name", "taper")
        self.cpp_info.set_property("cmake_target_name", "taper::runtime")
        self.cpp_info.set_property("pkg_config_name", "taper")
        if self.settings.os in ("Linux", "FreeBSD") and not self.options.shared:
            self.cpp_info.system_libs = ["pthread", "m", "dl"]
