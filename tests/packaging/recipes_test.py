# SPDX-License-Identifier: BSD-2-Clause
"""recipes_test.py SOURCE: checks that the recipes of packaging/ can be parsed, name the project's version, and use existing options."""
import ast
import email.utils
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

SOURCE = sys.argv.pop(1)


def read(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
        return file.read()


VERSION = re.search(r"project\(taper VERSION ([0-9.]+)", read("CMakeLists.txt")).group(1)
RECIPES = ["packaging/vcpkg/taper/portfile.cmake", "packaging/conan/conanfile.py", "packaging/homebrew/taper.rb", "packaging/debian/rules"]


class Recipes(unittest.TestCase):
    def test_versions(self):
        self.assertEqual(json.loads(read("packaging/vcpkg/taper/vcpkg.json"))["version"], VERSION)
        self.assertIn(f'version = "{VERSION}"', read("packaging/conan/conanfile.py"))
        self.assertRegex(read("packaging/debian/changelog"), rf"^taper \({re.escape(VERSION)}-\d+\)")
        self.assertIn(f"## {VERSION}", read("CHANGELOG.md"))
        self.assertIn(f'return "{VERSION}";', read("src/runtime/context.c"))
        interface = VERSION.rsplit(".", 1)[0] if VERSION.startswith("0.") else VERSION.split(".")[0]
        self.assertIn(f"libtaper.so.{interface} libtaper0", read("packaging/debian/libtaper0.symbols"))
        self.assertIn(f"soname='libtaper.so.{interface}'", read("packaging/abi/libtaper.abi"))

    def test_debian_changelog(self):
        """Each entry of the changelog is newer than the entry below it: lintian refuses packages otherwise."""
        dates = [email.utils.parsedate_to_datetime(text) for text in re.findall(r"^ -- .*>  (.*)$", read("packaging/debian/changelog"), re.M)]
        self.assertEqual(dates, sorted(set(dates), reverse=True))

    def test_version_is_read(self):
        """Packages take their version from CMakeLists.txt: a script reads it, or CMake inserts it."""
        for path, form in (("pyproject.toml", r"regex = 'project"), ("bindings/wasm/package/package.json.in", r'"version": "@PROJECT_VERSION@"'),
                           ("scripts/android/build.sh", r"--version \"\$version\""), ("bindings/apple/pods/podspec.rb.in", r"s\.version = '@VERSION@'")):
            self.assertRegex(read(path), form, path)
            self.assertNotIn(VERSION, read(path), path)

    def test_coordinates(self):
        """Documents and examples name the artefacts of this version."""
        found = 0
        for top in ("README.md", "docs", "examples", "bindings"):
            paths = [os.path.join(SOURCE, top)] if top.endswith(".md") else [
                os.path.join(folder, name) for folder, _, names in os.walk(os.path.join(SOURCE, top)) for name in names]
            for path in paths:
                if not path.endswith((".md", ".kts", ".gradle", ".json", ".yml")):
                    continue
                text = read(path)
                named = re.findall(r"dev\.taper:[\w$]+:([0-9][0-9.]*[0-9])", text) + re.findall(r"taper-wasm-([0-9][0-9.]*[0-9])\.tgz", text)
                self.assertLessEqual(set(named), {VERSION}, path)
                found += len(named)
        self.assertGreater(found, 0)

    def test_module_map(self):
        """The module map of the xcframework names every public header, because Swift sees only the headers that it names."""
        named = re.findall(r'header "(taper/\w+\.h)"', read("bindings/apple/module.modulemap"))
        self.assertEqual(sorted(named), sorted("taper/" + name for name in os.listdir(os.path.join(SOURCE, "include/taper")) if name.endswith(".h")))

    def test_not_yet_published(self):
        """While no version is released, each page with coordinates of packages says so."""
        if f"## {VERSION}, not yet released" not in read("CHANGELOG.md"):
            self.skipTest("a version is released")
        pages = ["README.md"] + [os.path.relpath(os.path.join(folder, name), SOURCE) for folder, _, names in os.walk(os.path.join(SOURCE, "docs"))
                                 for name in names if name.endswith(".md") and os.path.basename(folder) not in ("decisions", "inside")]
        named = [page for page in pages if re.search(r"dev\.taper:|\btaper-runtime\b|\btaper-wasm\b", read(page)) and page != "docs/architecture.md"]
        self.assertIn("docs/android.md", named)
        for page in named:
            self.assertRegex(read(page), r"No version( of Taper)? is\s+published\s+yet", page)

    def test_version_script(self):
        script = os.path.join(SOURCE, "scripts/release/version.sh")

        def says(*arguments):
            return subprocess.run([script, *arguments], capture_output=True, text=True)
        self.assertEqual(says().stdout, VERSION + "\n")
        self.assertIn(f"the tag of this version is v{VERSION}", says("--tag", "v99.0").stderr)
        released = f"## {VERSION}, not yet released" not in read("CHANGELOG.md")
        self.assertEqual(says("--tag", "v" + VERSION).returncode == 0, released)

    def test_options_exist(self):
        known = set(re.findall(r"^\s*(?:option\(|set\()(TAPER_(?:WITH|BUILD)_\w+|TAPER_WARNINGS_AS_ERRORS)", read("CMakeLists.txt") + read("bindings/python/CMakeLists.txt"), re.M))
        for recipe in RECIPES:
            asked = set(re.findall(r"(?:-D|\b)(TAPER_(?:WITH|BUILD)_[A-Z0-9]+)\b", read(recipe)))
            self.assertTrue(asked, recipe)
            self.assertLessEqual(asked, known, recipe)

    def test_every_instruction_set(self):
        """No recipe omits instruction sets or sets the level of optimization; only the demo's build does so."""
        for recipe in [*RECIPES, "pyproject.toml", "scripts/debian.sh"]:
            self.assertNotRegex(read(recipe), r"TAPER_CPU_LEVELS|TAPER_OPTIMIZE", recipe)
        for preset in json.loads(read("CMakePresets.json"))["configurePresets"]:
            limited = {"TAPER_CPU_LEVELS", "TAPER_OPTIMIZE"} & set(preset.get("cacheVariables", {}))
            self.assertEqual(bool(limited), preset["name"] == "demo", preset["name"])

    def test_conan(self):
        tree = ast.parse(read("packaging/conan/conanfile.py"))
        recipe = next(node for node in tree.body if isinstance(node, ast.ClassDef))
        self.assertLessEqual({"export_sources", "generate", "build", "package", "package_info"},
                             {node.name for node in recipe.body if isinstance(node, ast.FunctionDef)})

    def test_homebrew(self):
        if shutil.which("ruby") is None:
            self.skipTest("no ruby")
        done = subprocess.run(["ruby", "-c", os.path.join(SOURCE, "packaging/homebrew/taper.rb")], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_vcpkg(self):
        """Runs the port with stand-ins for vcpkg's functions that print their arguments."""
        script = "cmake_minimum_required(VERSION 3.16)\n" + "\n".join([f"function({name})\n message(STATUS \"{name} ${{ARGV}}\")\nendfunction()" for name in (
            "vcpkg_check_features", "vcpkg_cmake_configure", "vcpkg_cmake_install", "vcpkg_cmake_config_fixup", "vcpkg_fixup_pkgconfig",
            "vcpkg_copy_tools", "vcpkg_install_copyright")])
        script += f"\nset(FEATURES tools)\nset(CURRENT_PACKAGES_DIR /nowhere)\ninclude({SOURCE}/packaging/vcpkg/taper/portfile.cmake)\n"
        path = os.path.join(os.getcwd(), "port_test.cmake")
        with open(path, "w", encoding="utf-8") as file:
            file.write(script)
        done = subprocess.run(["cmake", "-P", path], capture_output=True, text=True)
        os.remove(path)
        self.assertEqual(done.returncode, 0, done.stderr)
        source = re.search(r"vcpkg_cmake_configure SOURCE_PATH;([^;]+);", done.stdout).group(1)
        self.assertTrue(os.path.exists(os.path.join(source, "CMakeLists.txt")), source)
        self.assertIn("vcpkg_copy_tools TOOL_NAMES;taper", done.stdout)


unittest.main()
