# SPDX-License-Identifier: BSD-2-Clause
# Tests of the GPU backend, on Mesa's driver that computes on the CPU (lavapipe). Where it is not installed they are skipped,
# visibly.
find_file(TAPER_LAVAPIPE NAMES lvp_icd.${CMAKE_SYSTEM_PROCESSOR}.json lvp_icd.json PATHS /usr/share/vulkan/icd.d NO_DEFAULT_PATH)
if(TAPER_LAVAPIPE)
    foreach(name gpu_test gpu_estimate_test)
        add_executable(${name} ${CMAKE_CURRENT_LIST_DIR}/${name}.c ${CMAKE_CURRENT_LIST_DIR}/failing_gpu.c)
        target_link_libraries(${name} PRIVATE test_models m)
        target_compile_definitions(${name} PRIVATE _POSIX_C_SOURCE=200809L)
        taper_compile_options(${name})
        taper_link_options(${name})
    endforeach()
    # What drivers and the loader keep until the process ends is not Taper's, whose blocks the test counts itself.
    set(gpu_environment "VK_ICD_FILENAMES=${TAPER_LAVAPIPE}" "VK_DRIVER_FILES=${TAPER_LAVAPIPE}"
        "ASAN_OPTIONS=detect_leaks=0" "TSAN_OPTIONS=ignore_noninstrumented_modules=1")
    add_test(NAME gpu_models COMMAND gpu_test)
    add_test(NAME gpu_memory COMMAND gpu_test --memory)
    add_test(NAME gpu_estimate COMMAND gpu_estimate_test)
    set_tests_properties(gpu_models gpu_memory gpu_estimate PROPERTIES ENVIRONMENT "${gpu_environment}")
    set_tests_properties(gpu_models gpu_estimate PROPERTIES LABELS "gpu;threads")
    set_tests_properties(gpu_memory PROPERTIES LABELS "gpu;slow;long")
    # The same under Khronos' validation layer, which has nothing to say.
    find_file(TAPER_VALIDATION VkLayer_khronos_validation.json PATHS /usr/share/vulkan/explicit_layer.d NO_DEFAULT_PATH)
    if(TAPER_VALIDATION AND NOT TAPER_SANITIZE)
        add_test(NAME gpu_validation COMMAND gpu_test)
        set_tests_properties(gpu_validation PROPERTIES LABELS "gpu;slow;long" FAIL_REGULAR_EXPRESSION "VUID|Validation Error|UNASSIGNED"
            ENVIRONMENT "${gpu_environment};VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation")
    endif()
else()
    add_test(NAME gpu_models COMMAND ${CMAKE_COMMAND} -E echo "SKIPPED: lavapipe is not installed (mesa-vulkan-drivers)")
    set_tests_properties(gpu_models PROPERTIES LABELS "gpu")
endif()
