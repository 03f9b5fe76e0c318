# SPDX-License-Identifier: BSD-2-Clause
# Tests of models and operators with the taper program: committed models, and models that PyTorch makes and runs for
# comparison.
if(TAPER_TEST_PYTHON AND TARGET taper_program)
    set(with_numpy sh ${CMAKE_CURRENT_SOURCE_DIR}/with_module.sh ${TAPER_TEST_PYTHON} numpy)
    set(with_torch ${TAPER_TEST_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/with_torch.py torch)
    set(TAPER_TEST_PROGRAM $<TARGET_FILE:taper_program> CACHE STRING "How scripts start the taper program; with an emulator in front where one is needed")
    set(taper ${TAPER_TEST_PROGRAM})
    set(models ${CMAKE_CURRENT_SOURCE_DIR}/models)

    # Exported programs, with PyTorch's recorded results.
    add_test(NAME pt2_calls COMMAND ${with_numpy} ${CMAKE_CURRENT_SOURCE_DIR}/models/test_pt2.py ${taper})
    set_tests_properties(pt2_calls PROPERTIES LABELS models SKIP_RETURN_CODE 77)
    # Small files that need much work. Without --sizes they have up to 300 kB.
    add_test(NAME load_families COMMAND ${TAPER_TEST_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/limits/load_families.py ${taper} --sizes 1000,30000)
    set_tests_properties(load_families PROPERTIES LABELS limits)

    # Committed models, which need no PyTorch.
    add_test(NAME samples_quick COMMAND ${with_numpy} ${models}/run_samples.py ${taper} ${SAMPLES} --device cpu)
    add_test(NAME samples_quick_reference COMMAND ${with_numpy} ${models}/run_samples.py ${taper} ${SAMPLES} --reference --device cpu)
    add_test(NAME samples_quick_unoptimized COMMAND ${with_numpy} ${models}/run_samples.py ${taper} ${SAMPLES} --no-optimize --device cpu)
    # Models that PyTorch's NNAPI converter wrote (scripts/oracle/make_nnapi_samples.py).
    add_test(NAME nnapi_quick COMMAND ${with_numpy} ${models}/run_samples.py ${taper} ${TEST_DATA}/nnapi)
    add_test(NAME nnapi_quick_reference COMMAND ${with_numpy} ${models}/run_samples.py ${taper} ${TEST_DATA}/nnapi --reference)
    add_test(NAME nnapi_quick_unoptimized COMMAND ${with_numpy} ${models}/run_samples.py ${taper} ${TEST_DATA}/nnapi --no-optimize)
    add_test(NAME bytecode3 COMMAND ${with_numpy} ${models}/run_bytecode3.py ${taper} ${SAMPLES})
    add_test(NAME demo COMMAND ${with_numpy} ${models}/run_demo.py ${taper} ${DEMO})
    set_tests_properties(samples_quick samples_quick_reference samples_quick_unoptimized nnapi_quick nnapi_quick_reference
                         nnapi_quick_unoptimized bytecode3 demo PROPERTIES LABELS "models;foreign" SKIP_RETURN_CODE 77)

    # Makes all samples anew, and runs them.
    set(made ${CMAKE_CURRENT_BINARY_DIR}/samples)
    add_test(NAME make_samples COMMAND ${with_torch} ${PROJECT_SOURCE_DIR}/scripts/oracle/make_samples.py ${made})
    set_tests_properties(make_samples PROPERTIES FIXTURES_SETUP made_samples ENVIRONMENT ATEN_CPU_CAPABILITY=avx2)
    add_test(NAME samples COMMAND ${with_torch} ${models}/run_samples.py ${taper} ${made})
    set_tests_properties(samples PROPERTIES FIXTURES_REQUIRED made_samples)
    # Files that Taper writes must be equal to the files that PyTorch writes, and PyTorch must run them.
    add_test(NAME write COMMAND ${with_torch} ${models}/test_write.py $<TARGET_FILE:module_write_test> ${made})
    set_tests_properties(write PROPERTIES FIXTURES_REQUIRED made_samples ENVIRONMENT ATEN_CPU_CAPABILITY=avx2)
    # `taper convert` translates each sample to every kind of file and back.
    add_test(NAME convert COMMAND ${with_torch} ${models}/test_convert.py ${taper} ${made})
    set_tests_properties(convert PROPERTIES FIXTURES_REQUIRED made_samples ENVIRONMENT ATEN_CPU_CAPABILITY=avx2)
    # Kernels of the GPU backend at awkward sizes.
    if(TARGET gpu_test)
        add_test(NAME gpu_operators COMMAND ${with_torch} ${CMAKE_CURRENT_SOURCE_DIR}/gpu/gpu_operators.py ${taper})
        add_test(NAME gpu_lists COMMAND ${with_torch} ${CMAKE_CURRENT_SOURCE_DIR}/gpu/gpu_lists.py ${taper})
        add_test(NAME gpu_networks COMMAND ${with_torch} ${CMAKE_CURRENT_SOURCE_DIR}/gpu/gpu_networks.py ${taper})
        # Some kernels have a variant for drivers that compute on the CPU, and a variant for real GPUs. This test runs the
        # variant for real GPUs.
        add_test(NAME gpu_unshared COMMAND ${with_torch} ${CMAKE_CURRENT_SOURCE_DIR}/gpu/gpu_operators.py ${taper}
                                           --filter conv --options share=0)
        # If there are few results, several threads of a GPU compute each result.
        add_test(NAME gpu_teams COMMAND ${with_torch} ${CMAKE_CURRENT_SOURCE_DIR}/gpu/gpu_operators.py ${taper}
                                        --filter "conv|linear|pool|norm|softmax|attention|matmul|lstm8|gru5|mask|mean" --options teams=1)
        # Half precision. On drivers that compute on the CPU the shaders pack the halves themselves.
        add_test(NAME gpu_half COMMAND ${with_torch} ${CMAKE_CURRENT_SOURCE_DIR}/gpu/gpu_operators.py ${taper}
                                       --filter "conv[1-3]|linear|pool|outside|add_relu" --half)
        set_tests_properties(gpu_operators gpu_lists gpu_networks gpu_unshared gpu_teams gpu_half PROPERTIES LABELS "gpu;oracle" SKIP_RETURN_CODE 77 ENVIRONMENT
            "VK_ICD_FILENAMES=${TAPER_LAVAPIPE};VK_DRIVER_FILES=${TAPER_LAVAPIPE}")
    endif()
    # SwiftShader, another driver that computes on the CPU, has other limits. Debian's chromium contains it. Compiling the
    # shaders takes minutes.
    find_file(TAPER_SWIFTSHADER NAMES vk_swiftshader_icd.json PATHS /usr/lib/chromium NO_DEFAULT_PATH)
    if(TARGET gpu_test AND TAPER_SWIFTSHADER AND TAPER_TESTS_ALL)
        set(in_one_process)
        if(TARGET taper_python)
            set(in_one_process --module ${PROJECT_BINARY_DIR}/python)
        endif()
        add_test(NAME gpu_swiftshader COMMAND ${with_torch} ${CMAKE_CURRENT_SOURCE_DIR}/gpu/gpu_operators.py ${taper} ${in_one_process})
        set_tests_properties(gpu_swiftshader PROPERTIES LABELS "gpu;oracle" SKIP_RETURN_CODE 77 TIMEOUT 7200 ENVIRONMENT
            "VK_ICD_FILENAMES=${TAPER_SWIFTSHADER};VK_DRIVER_FILES=${TAPER_SWIFTSHADER};TAPER_GPU=vulkan:swiftshader")
    endif()
    if(TARGET taper_metal) # runs the same cases with the backend for Metal
        add_test(NAME gpu_metal_operators COMMAND ${with_torch} ${CMAKE_CURRENT_SOURCE_DIR}/gpu/gpu_operators.py $<TARGET_FILE:taper_metal>)
        add_test(NAME gpu_metal_networks COMMAND ${with_torch} ${CMAKE_CURRENT_SOURCE_DIR}/gpu/gpu_networks.py $<TARGET_FILE:taper_metal>)
        add_test(NAME gpu_metal_half COMMAND ${with_torch} ${CMAKE_CURRENT_SOURCE_DIR}/gpu/gpu_operators.py $<TARGET_FILE:taper_metal> --half)
        set_tests_properties(gpu_metal_operators gpu_metal_half gpu_metal_networks PROPERTIES LABELS "metal;oracle" SKIP_RETURN_CODE 77 ENVIRONMENT
            "TAPER_GPU=metal")
    endif()
    # PyTorch loads the imitation of libneuralnetworks.so, which must not have sanitizers, because PyTorch's process has none.
    if(NOT TAPER_SANITIZE)
        add_test(NAME nnapi_pytorch COMMAND ${with_torch} ${CMAKE_CURRENT_SOURCE_DIR}/nnapi/pytorch_double.py
                                            ${CMAKE_BINARY_DIR}/tests/nnapi)
        # Operations in forms that PyTorch's converter does not write. PyTorch runs them on the imitation of Android's
        # library, and Taper lowers them.
        add_test(NAME nnapi_forms COMMAND ${with_torch} ${models}/test_nnapi_forms.py ${taper} ${CMAKE_BINARY_DIR}/tests/nnapi)
        # Models on the device "nnapi", which is the imitation of Android's library.
        add_test(NAME nnapi_whole_models COMMAND ${with_torch} ${CMAKE_CURRENT_SOURCE_DIR}/nnapi/whole_models.py ${taper}
                                                 ${CMAKE_BINARY_DIR}/tests/nnapi)
        # Random programs, run on the device "nnapi", and converted for NNAPI.
        add_test(NAME nnapi_random_programs COMMAND ${with_torch} ${CMAKE_CURRENT_SOURCE_DIR}/nnapi/random_programs_nnapi.py ${taper}
                                                    ${CMAKE_BINARY_DIR}/tests/nnapi --programs 200 --no-pytorch)
        set_tests_properties(nnapi_pytorch nnapi_forms nnapi_whole_models nnapi_random_programs PROPERTIES LABELS "nnapi;oracle" SKIP_RETURN_CODE 77)
        # Runs the files of `taper optimize --backend nnapi` with PyTorch on the imitation of Android's library, and
        # with Taper.
        foreach(levels 29 27,28,30,31)
            string(REPLACE 27,28,30,31 levels name nnapi_convert_${levels})
            add_test(NAME ${name} COMMAND ${with_torch} ${models}/test_nnapi_convert.py ${taper} ${CMAKE_BINARY_DIR}/tests/nnapi
                                          --levels ${levels})
            set_tests_properties(${name} PROPERTIES LABELS "nnapi;oracle" SKIP_RETURN_CODE 77 ENVIRONMENT ATEN_CPU_CAPABILITY=avx2)
        endforeach()
    endif()
    # Files of bytecode 4 and 5 with the operators of that time.
    add_test(NAME old_bytecode COMMAND ${with_torch} ${models}/test_old_bytecode.py ${taper})
    add_test(NAME training_mode COMMAND ${with_torch} ${models}/test_training_mode.py ${taper})
    add_test(NAME without_schema COMMAND ${with_torch} ${models}/test_without_schema.py ${taper})
    # Debug records: the places of calls in the source.
    add_test(NAME debug_info COMMAND ${with_torch} ${models}/test_debug_info.py ${taper} ${made})
    set_tests_properties(debug_info PROPERTIES FIXTURES_REQUIRED made_samples ENVIRONMENT ATEN_CPU_CAPABILITY=avx2)
    # Files that `taper optimize` writes for Vulkan and Metal.
    add_test(NAME gpu_files COMMAND ${with_torch} ${models}/test_gpu_files.py ${taper} ${made})
    set_tests_properties(gpu_files PROPERTIES FIXTURES_REQUIRED made_samples ENVIRONMENT ATEN_CPU_CAPABILITY=avx2)
    # Five networks of the zoo. run_zoo.py --all runs all float networks of the zoo.
    add_test(NAME zoo COMMAND ${with_torch} ${models}/run_zoo.py ${taper} mobilenet_v2 resnet18 shufflenet_v2_x0_5 squeezenet1_1
                              lraspp_mobilenet_v3_large)
    set_tests_properties(zoo PROPERTIES ENVIRONMENT ATEN_CPU_CAPABILITY=avx2)
    # Files of `taper optimize` must give the results of the original file, in PyTorch too. run_optimize.py tests networks of
    # the zoo.
    add_test(NAME conv_algorithms COMMAND ${with_torch} ${models}/test_conv_algorithms.py ${taper})
    add_test(NAME drawn_layers COMMAND ${with_torch} ${models}/test_layers.py ${taper})
    add_test(NAME quantized_winograd COMMAND ${with_torch} ${models}/test_quantized_winograd.py ${taper})
    # Compares layers that are computed in bands of rows with PyTorch.
    add_test(NAME bands COMMAND ${with_torch} ${models}/test_bands.py ${taper})
    # Results must have PyTorch's bits if PyTorch's builds agree.
    add_test(NAME bits COMMAND ${with_torch} ${models}/test_bits.py ${taper})
    # Any number of threads must give the same bits.
    add_test(NAME thread_bits COMMAND ${with_torch} ${models}/test_thread_bits.py ${taper})
    add_test(NAME thread_bits_all COMMAND ${with_torch} ${models}/test_thread_bits.py ${taper} --all)
    # Compares sums with the same sums in float64, for inputs whose additions lose digits.
    add_test(NAME accuracy COMMAND ${with_torch} ${models}/test_accuracy.py ${taper})
    add_test(NAME einsum_weights COMMAND ${with_torch} ${models}/test_einsum_weights.py ${taper})
    add_test(NAME lines COMMAND ${with_torch} ${models}/test_lines.py ${taper})
    add_test(NAME lent_packs COMMAND ${with_torch} ${models}/test_lent_packs.py ${taper})
    add_test(NAME optimize COMMAND ${with_torch} ${models}/test_optimize.py ${taper} --samples ${SAMPLES} --samples ${made})
    set_tests_properties(optimize PROPERTIES FIXTURES_REQUIRED made_samples ENVIRONMENT ATEN_CPU_CAPABILITY=avx2)
    # Models like those of applications, in two forms each. test_apps.py without --quick runs every form and mode.
    add_test(NAME apps COMMAND ${with_torch} ${models}/test_apps.py ${taper} --quick)
    # int8 models: their ranges must be those of PyTorch's observers, PyTorch must compute the same integers from the files,
    # and the distance from the float model must not exceed quantize_fx's.
    add_test(NAME quantize COMMAND ${with_torch} ${models}/test_quantize.py ${taper})
    set_tests_properties(quantize PROPERTIES ENVIRONMENT ATEN_CPU_CAPABILITY=avx2)
    # The three kinds of MobileNetV2 that the NNAPI tutorial makes, for the CPU and for NNAPI.
    add_test(NAME nnapi_tutorial COMMAND ${with_torch} ${models}/test_nnapi_tutorial.py ${taper})
    # Small models with every operator that PyTorch's NNAPI converter supports. --filter TEXT selects some of them.
    add_test(NAME nnapi_operators COMMAND ${with_torch} ${models}/test_nnapi_operators.py ${taper})
    set_tests_properties(nnapi_tutorial nnapi_operators PROPERTIES ENVIRONMENT ATEN_CPU_CAPABILITY=avx2)
    # Features of TorchScript that lite modules lack, older versions of TorchScript, and the overloads that PyTorch's compiler
    # chooses.
    add_test(NAME torchscript COMMAND ${with_torch} ${models}/test_torchscript.py ${taper})
    add_test(NAME language COMMAND ${with_torch} ${models}/test_language.py ${taper})
    # All ways to change an attribute, in three calls, optimized and not.
    add_test(NAME attribute_changes COMMAND ${with_torch} ${models}/test_attribute_changes.py ${taper})
    # Programs that compute gradients, and small force fields. --atoms N selects the size of the force fields, --double computes in float64, and
    # --times prints times.
    add_test(NAME gradients COMMAND ${with_torch} ${models}/test_gradients.py ${taper})
    add_test(NAME ahead_gradients COMMAND ${with_torch} ${models}/test_ahead_gradients.py ${taper})
    add_test(NAME force_fields COMMAND ${with_torch} ${models}/test_force_fields.py ${taper})
    add_test(NAME listing COMMAND ${with_torch} ${models}/test_listing.py ${taper})
    # The core operators of PyTorch 2 in exported programs, which run only if TAPER_TORCH2 names a Python with PyTorch
    # 2.
    add_test(NAME pt2_operators COMMAND ${with_torch} ${models}/test_pt2_operators.py ${taper})
    add_test(NAME overload_order COMMAND ${with_torch} ${PROJECT_SOURCE_DIR}/scripts/overload_order.py)
    # Random programs with all features of the language, in every form of file. --count N makes N programs, and --seed S
    # makes other programs.
    add_test(NAME generated_programs COMMAND ${with_torch} ${models}/generate_programs.py ${taper} --count 300)
    # First and second derivatives of PyTorch's samples of operators: some operators, chosen by TAPER_SEED, and all.
    set(samples_of_gradients ${CMAKE_CURRENT_SOURCE_DIR}/ops/run_gradients.py)
    add_test(NAME operator_gradients COMMAND ${with_torch} ${samples_of_gradients} ${taper} --second --max 2 --part seed/16)
    add_test(NAME operator_gradients_all COMMAND ${with_torch} ${samples_of_gradients} ${taper} --second --max 4)
    set_tests_properties(operator_gradients operator_gradients_all PROPERTIES TIMEOUT 3600)
    # Random programs that compute gradients.
    add_test(NAME generated_gradients COMMAND ${with_torch} ${models}/generate_programs.py ${taper} --gradients --count 270)
    # Thousands of random programs that compute gradients, of all shapes.
    add_test(NAME generated_gradients_all COMMAND ${with_torch} ${models}/generate_programs.py ${taper} --gradients --shape all --count 3000 --seed 61)
    set_tests_properties(generated_programs generated_gradients pt2_operators PROPERTIES TIMEOUT 900)
    set_tests_properties(generated_gradients_all PROPERTIES TIMEOUT 3600)
    set_tests_properties(make_samples samples write convert old_bytecode without_schema training_mode debug_info gpu_files zoo conv_algorithms drawn_layers quantized_winograd bands accuracy einsum_weights lines lent_packs optimize
                         quantize nnapi_tutorial
                         nnapi_operators apps torchscript language attribute_changes gradients ahead_gradients operator_gradients operator_gradients_all force_fields listing pt2_operators overload_order generated_programs generated_gradients generated_gradients_all
                         PROPERTIES LABELS "models;oracle" SKIP_RETURN_CODE 77)
    # Random programs that are difficult for compiler passes. --modules N sets their number.
    add_test(NAME random_programs COMMAND ${with_torch} ${CMAKE_CURRENT_SOURCE_DIR}/passes/random_programs.py ${taper})
    set_tests_properties(random_programs PROPERTIES LABELS "passes;oracle" SKIP_RETURN_CODE 77)

    # Every operator case, run once with the optimizer and the kernels, and once with the reference.
    set(families
        caffe2 container container_kinds conv count cpu create
        create_forms edges elementwise elementwise_forms fake_quantize
        fft index linalg linear norm out_forms pad pool
        prim quantized quantized_cpu quantized_layer quantized_math
        quantized_shape random ranks rare_forms recurrent reduce
        reduce_forms resize scalar scalar_kinds sharing string view
        view_copies vision
    )
    set(cases)
    foreach(family ${families})
        set(name ops_${family})
        set(file ${CMAKE_CURRENT_SOURCE_DIR}/ops/test_${family}.py)
        list(APPEND cases ${file})
        add_test(NAME ${name} COMMAND ${with_torch} ${CMAKE_CURRENT_SOURCE_DIR}/ops/kept.py ${taper} $<TARGET_FILE:recorded_cases> ${file}
                                       ${PROJECT_BINARY_DIR}/kept)
        set_tests_properties(${name} PROPERTIES LABELS "ops;oracle" SKIP_RETURN_CODE 77)
    endforeach()
    # Runs some of the cases as TorchScript. Without --every the script runs all cases.
    add_test(NAME ops_as_torchscript COMMAND ${with_torch} ${CMAKE_CURRENT_SOURCE_DIR}/ops/oracle.py ${taper} ${cases} --torchscript
                                             --every 40)
    set_tests_properties(ops_as_torchscript PROPERTIES LABELS "ops;oracle" SKIP_RETURN_CODE 77)
    # Runs one sample of each operator in PyTorch's own database. Without --max and --dtypes the script runs about ten
    # thousand samples.
    add_test(NAME opinfo COMMAND ${with_torch} ${CMAKE_CURRENT_SOURCE_DIR}/ops/run_opinfo.py ${taper} --max 1
                                 --dtypes float32,int64,bool)
    set_tests_properties(opinfo PROPERTIES LABELS "ops;oracle" SKIP_RETURN_CODE 77)

    # A backend that keeps its tensors in its own memory must give the same bits as the CPU. Programs and samples run on
    # it too.
    if(TARGET taper_away)
        add_test(NAME away_networks COMMAND ${with_torch} ${CMAKE_CURRENT_SOURCE_DIR}/backend/run_networks.py ${taper}
                                            $<TARGET_FILE:taper_away> mobilenet_v2 shufflenet_v2_x0_5 squeezenet1_1)
        add_test(NAME away_samples COMMAND ${with_torch} ${models}/run_samples.py $<TARGET_FILE:taper_away> ${made})
        set_tests_properties(away_samples PROPERTIES FIXTURES_REQUIRED made_samples ENVIRONMENT TAPER_AWAY=odd-pairs,records)
        add_test(NAME away_programs COMMAND ${with_torch} ${models}/generate_programs.py $<TARGET_FILE:taper_away> --count 60 --seed 7)
        set_tests_properties(away_programs PROPERTIES TIMEOUT 900 ENVIRONMENT TAPER_AWAY=everything,records,always)
        add_test(NAME away_random_programs COMMAND ${with_torch} ${CMAKE_CURRENT_SOURCE_DIR}/passes/random_programs.py
                                                   $<TARGET_FILE:taper_away> --modules 6)
        set_tests_properties(away_random_programs PROPERTIES ENVIRONMENT TAPER_AWAY=every-second)
        set_tests_properties(away_networks away_samples away_programs away_random_programs PROPERTIES LABELS "backend;oracle"
                             SKIP_RETURN_CODE 77)
        add_test(NAME away_networks_all COMMAND ${with_torch} ${CMAKE_CURRENT_SOURCE_DIR}/backend/run_networks.py ${taper}
                                                $<TARGET_FILE:taper_away> --all)
        set_tests_properties(away_networks_all PROPERTIES LABELS "backend;oracle" SKIP_RETURN_CODE 77 TIMEOUT 43200)
    endif()

    if(NOT TAPER_TESTS_ALL)
        return()
    endif()
    # The tests above run a part of their cases; these tests run all cases.
    add_test(NAME zoo_all COMMAND ${with_torch} ${models}/run_zoo.py ${taper} --all)
    add_test(NAME zoo_int8 COMMAND ${with_torch} ${models}/run_zoo.py ${taper} --kind quantization)
    add_test(NAME apps_all COMMAND ${with_torch} ${models}/test_apps.py ${taper})
    add_test(NAME random_programs_many COMMAND ${with_torch} ${CMAKE_CURRENT_SOURCE_DIR}/passes/random_programs.py ${taper} --modules 3000)
    add_test(NAME ops_as_torchscript_all COMMAND ${with_torch} ${CMAKE_CURRENT_SOURCE_DIR}/ops/oracle.py ${taper} ${cases} --torchscript)
    add_test(NAME force_fields_large COMMAND ${with_torch} ${models}/test_force_fields.py ${taper} --atoms 300)
    add_test(NAME opinfo_all COMMAND ${with_torch} ${CMAKE_CURRENT_SOURCE_DIR}/ops/run_opinfo.py ${taper})
    set_tests_properties(zoo_all zoo_int8 apps_all random_programs_many ops_as_torchscript_all opinfo_all force_fields_large
                         PROPERTIES LABELS oracle SKIP_RETURN_CODE 77 TIMEOUT 43200 ENVIRONMENT ATEN_CPU_CAPABILITY=avx2)
endif()
