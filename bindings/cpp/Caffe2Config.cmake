# SPDX-License-Identifier: BSD-2-Clause
# find_package(Caffe2) reads this file. Old projects need it in addition to Torch or instead of Torch.
include(CMakeFindDependencyMacro)
find_dependency(Torch CONFIG PATHS "${CMAKE_CURRENT_LIST_DIR}/../Torch" NO_DEFAULT_PATH)
set(Caffe2_MAIN_LIBS torch_library)
set(Caffe2_INCLUDE_DIRS ${TORCH_INCLUDE_DIRS})
set(CAFFE2_INCLUDE_DIRS ${TORCH_INCLUDE_DIRS})
set(Caffe2_LIBRARIES ${TORCH_LIBRARIES})
set(CAFFE2_LIBRARIES ${TORCH_LIBRARIES})
set(Caffe2_FOUND TRUE)
