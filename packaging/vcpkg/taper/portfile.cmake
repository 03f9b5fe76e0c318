# SPDX-License-Identifier: BSD-2-Clause
# The port builds the tree that TAPER_SOURCE in the environment names. vcpkg's triplet selects the static or the shared
# library.
if(DEFINED ENV{TAPER_SOURCE})
    set(SOURCE_PATH "$ENV{TAPER_SOURCE}")
else()
    get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
endif()
vcpkg_check_features(OUT_FEATURE_OPTIONS features FEATURES tools TAPER_BUILD_TOOLS)
vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        ${features}
        -DTAPER_BUILD_TESTS=OFF
        -DTAPER_BUILD_BENCH=OFF
        -DTAPER_WITH_PYTHON=OFF
        -DTAPER_WITH_VULKAN=OFF
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/taper)
vcpkg_fixup_pkgconfig()
if("tools" IN_LIST FEATURES)
    vcpkg_copy_tools(TOOL_NAMES taper speed_benchmark_torch AUTO_CLEAN)
endif()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
