# SPDX-License-Identifier: BSD-2-Clause
# find_package(TorchVision): the library has the operators of torchvision, so the target only brings the headers.
include(CMakeFindDependencyMacro)
find_dependency(Torch CONFIG PATHS "${CMAKE_CURRENT_LIST_DIR}/../Torch" NO_DEFAULT_PATH)
if(NOT TARGET TorchVision::TorchVision)
    add_library(TorchVision::TorchVision INTERFACE IMPORTED)
    set_target_properties(TorchVision::TorchVision PROPERTIES INTERFACE_LINK_LIBRARIES torch)
endif()
set(TorchVision_INCLUDE_DIRS ${TORCH_INCLUDE_DIRS})
set(TorchVision_LIBRARIES TorchVision::TorchVision)
set(TorchVision_FOUND TRUE)
