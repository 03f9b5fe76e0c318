# SPDX-License-Identifier: BSD-2-Clause
# Tests of the GPU backend for Metal on other systems: its Objective-C is compiled with the stand-ins in include/Metal, and its
# kernels are compiled as C++.
if(NOT TARGET taper_metal_shaders)
    taper_apple_skip(gpu_metal "no glslc or no spirv-cross here")
    return()
endif()
set(kernels ${CMAKE_CURRENT_BINARY_DIR}/kernels)
set(kernel_sources ${kernels}/kernels.c)
foreach(msl IN LISTS TAPER_GPU_BUILT_METAL)
    get_filename_component(name ${msl} NAME_WE)
    list(APPEND kernel_sources ${kernels}/${name}.cpp)
endforeach()
add_custom_command(OUTPUT ${kernel_sources}
    COMMAND ${TAPER_TEST_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/metal/kernels.py ${kernels} ${TAPER_GPU_BUILT_METAL}
    DEPENDS taper_metal_shaders ${TAPER_GENERATED}/backends/gpu/metal_shaders.inc ${CMAKE_CURRENT_SOURCE_DIR}/metal/kernels.py VERBATIM)
set(metal_objects)
set(sanitize)
if(TAPER_SANITIZE MATCHES "address") # the sanitizer finds a kernel that accesses memory outside its buffer
    set(sanitize -fsanitize=address -fno-omit-frame-pointer)
endif()
foreach(source IN LISTS kernel_sources)
    get_filename_component(name ${source} NAME)
    set(object ${kernels}/${name}.o)
    set(compiler ${TAPER_CLANG} -std=c11 -O1)
    if(name MATCHES "cpp$")
        # Like Metal's compiler, clang must not contract or reorder sums.
        set(compiler ${TAPER_CLANGXX} -std=c++17 -O1 -ffp-contract=off -Wno-unknown-attributes)
    endif()
    add_custom_command(OUTPUT ${object}
        COMMAND ${compiler} ${sanitize} -fPIC -I${CMAKE_CURRENT_SOURCE_DIR} -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_SOURCE_DIR}/include -c ${source} -o ${object}
        DEPENDS ${source} ${CMAKE_CURRENT_SOURCE_DIR}/metal/msl.h ${CMAKE_CURRENT_SOURCE_DIR}/metal/kernels.h VERBATIM)
    list(APPEND metal_objects ${object})
endforeach()
# The interface of GPU backends, and its implementation for Metal.
set(gpu ${PROJECT_SOURCE_DIR}/src/backends/gpu)
set(backend_flags -std=c11 -g -O1 -fPIC -Wall -Wextra -Wpedantic -Werror -fobjc-runtime=gcc -isystem ${sources}/include -isystem ${headers}
    -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_SOURCE_DIR}/include -I${TAPER_GENERATED})
foreach(source metal.m metal_record.m metal_backend.c metal_shaders.c)
    set(object ${kernels}/${source}.o)
    add_custom_command(OUTPUT ${object}
        COMMAND ${TAPER_CLANG} ${backend_flags} ${sanitize} -MD -MF ${object}.d -c ${gpu}/metal/${source} -o ${object}
        DEPENDS ${sources}/stamp taper_metal_shaders ${TAPER_GENERATED}/backends/gpu/metal_shaders.inc DEPFILE ${object}.d VERBATIM)
    list(APPEND metal_objects ${object})
endforeach()
taper_apple_object(object metal/device.m metal_device.m)
list(APPEND metal_objects ${object} ${stand_ins})
taper_apple_object(object metal/group.c metal_group.c)
list(APPEND metal_objects ${object})
set_source_files_properties(${metal_objects} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)

# taper_metal_program(NAME SOURCE… [LINKS library…]): makes a program that runs the Metal backend on the stand-ins.
function(taper_metal_program name)
    cmake_parse_arguments(program "" "" "LINKS" ${ARGN})
    add_executable(${name} ${program_UNPARSED_ARGUMENTS} ${PROJECT_SOURCE_DIR}/tests/gpu/failing_gpu.c ${metal_objects})
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
    target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
    target_link_libraries(${name} PRIVATE test_models ${program_LINKS} ${objc_library} m)
    target_compile_definitions(${name} PRIVATE _XOPEN_SOURCE=700 GPU_INTERFACE=metal GPU_KIND="metal" GPU_DEVICE="metal" GPU_IS_SOFTWARE=false)
    taper_compile_options(${name})
    taper_link_options(${name})
endfunction()
taper_metal_program(metal_gpu_test ${PROJECT_SOURCE_DIR}/tests/gpu/gpu_test.c)
taper_metal_program(metal_check_test ${PROJECT_SOURCE_DIR}/tests/gpu/gpu_check_test.c)
taper_metal_program(metal_estimate_test ${PROJECT_SOURCE_DIR}/tests/gpu/gpu_estimate_test.c)
taper_metal_program(metal_test ${PROJECT_SOURCE_DIR}/tests/gpu/metal_test.c)
add_test(NAME gpu_metal COMMAND metal_test)
add_test(NAME gpu_metal_models COMMAND metal_gpu_test)
add_test(NAME gpu_metal_check COMMAND metal_check_test)
add_test(NAME gpu_metal_estimate COMMAND metal_estimate_test)
add_test(NAME gpu_metal_memory COMMAND metal_gpu_test --memory)
# Each thread of a workgroup has its own stack, and sanitizers check a stack at each switch of threads, so tests whose
# kernels use teams of threads take minutes.
set_tests_properties(gpu_metal gpu_metal_check PROPERTIES LABELS metal)
set_tests_properties(gpu_metal_models gpu_metal_estimate PROPERTIES LABELS metal)
set_tests_properties(gpu_metal_memory PROPERTIES LABELS metal)
# The program with the device "metal", for gpu_operators.py.
if(TARGET taper_program)
    get_target_property(files taper_program SOURCES)
    get_target_property(folder taper_program SOURCE_DIR)
    list(TRANSFORM files PREPEND ${folder}/)
    taper_metal_program(taper_metal ${PROJECT_SOURCE_DIR}/tests/gpu/metal_everywhere.c ${files} LINKS taper_tools)
    set_property(SOURCE ${files} TARGET_DIRECTORY taper_metal APPEND PROPERTY COMPILE_DEFINITIONS taper_context_create=metal_context_create)
endif()
