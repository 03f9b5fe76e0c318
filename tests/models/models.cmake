# SPDX-License-Identifier: BSD-2-Clause
# Models and operators through the taper program: committed ones, and those that PyTorch makes and answers.
if(TAPER_TEST_PYTHON AND TARGET taper_program)
    set(with_numpy sh ${CMAKE_CURRENT_SOURCE_DIR}/with_module.sh ${TAPER_TEST_PYTHON} numpy)
    set(with_torch ${TAPER_TEST_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/with_torch.py torch)
    set(TAPER_TEST_PROGRAM $<TARGET_FILE:taper_program> CACHE STRING "How scripts start the taper program; with an emulator in front where one is needed")
    set(taper ${TAPER_TEST_PROGRAM})
    set(models ${CMAKE_CURRENT_SOURCE_DIR}/models)

    # Small files that ask for much; without --sizes up to 300 kB.
    add_test(NAME pt2_calls COMMAND ${with_numpy} ${CMAKE_CURRENT_SOURCE_DIR}/models/test_pt2.py ${taper})
    set_tests_properties(pt2_calls PROPERTIES LABELS models SKIP_RETURN_CODE 77)
    add_test(NAME load_families COMMAND ${TAPER_TEST_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/limits/load_families.py ${taper} --sizes 1000,30000)
    set_tests_properties(load_families PROPERTIES LABELS limits)

    # Committed models: no PyTorch needed.
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

    # All samples, made anew.
    set(made ${CMAKE_CURRENT_BINARY_DIR}/samples)
    add_test(NAME make_samples COMMAND ${with_torch} ${PROJECT_SOURCE_DIR}/scripts/oracle/make_samples.py ${made})
    set_tests_properties(make_samples PROPERTIES FIXTURES_SETUP made_samples ENVIRONMENT ATEN_CPU_CAPABILITY=avx2)
    add_test(NAME samples COMMAND ${with_torch} ${models}/run_samples.py ${taper} ${made})
    set_tests_properties(samples PROPERTIES FIXTURES_REQUIRED made_samples)
    # What is written is what PyTorch writes, and PyTorch runs it.
    add_test(NAME write COMMAND ${with_torch} ${models}/test_write.py $<TARGET_FILE:module_write_test> ${made})
    set_tests_properties(write PROPERTIES FIXTURES_REQUIRED made_samples ENVIRONMENT ATEN_CPU_CAPABILITY=avx2)
    # `taper convert` to every kind of file and back.
    add_test(NAME convert COMMAND ${with_torch} ${models}/test_convert.py ${taper} ${made})
    set_tests_properties(convert PROPERTIES FIXTURES_REQUIRED made_samples ENVIRONMENT ATEN_CPU_CAPABILITY=avx2)
    # Kernels of the GPU backend at awkward sizes.
    if(TARGET gpu_test)
        add_test(NAME gpu_operators COMMAND ${with_torch} ${CMAKE_CURRENT_SOURCE_DIR}/gpu/gpu_operators.py ${taper})
        add_test(NAME gpu_lists COMMAND ${with_torch} ${CMAKE_CURRENT_SOURCE_DIR}/gpu/gpu_lists.py ${taper})
        add_test(NAME gpu_networks COMMAND ${with_torch} ${CMAKE_CURRENT_SOURCE_DIR}/gpu/gpu_networks.py ${taper})
        # Kernels that drivers which compute on the CPU have in a way of their own: also as other devices have them.
        add_test(NAME gpu_unshared COMMAND ${with_torch} ${CMAKE_CURRENT_SOURCE_DIR}/gpu/gpu_operators.py ${taper}
                                           --filter conv --options share=0)
        # What GPUs do where there are few results: threads that share each of them.
        add_test(NAME gpu_teams COMMAND ${with_torch} ${CMAKE_CURRENT_SOURCE_DIR}/gpu/gpu_operators.py ${taper}
                                        --filter "conv|linear|pool|norm|softmax|attention|matmul|lstm8|gru5|mask|mean" --options teams=1)
        # Halves, which shaders pack themselves on such drivers.
        add_test(NAME gpu_half COMMAND ${with_torch} ${CMAKE_CURRENT_SOURCE_DIR}/gpu/gpu_operators.py ${taper}
                                       --filter "conv[1-3]|linear|pool|outside|add_relu" --half)
        set_tests_properties(gpu_operators gpu_lists gpu_networks gpu_unshared gpu_teams gpu_half PROPERTIES LABELS "gpu;oracle" SKIP_RETURN_CODE 77 ENVIRONMENT
            "VK_ICD_FILENAMES=${TAPER_LAVAPIPE};VK_DRIVER_FILES=${TAPER_LAVAPIPE}")
    endif()
    # Another driver that computes on the CPU, with other limits: it comes with Debian's chromium. Minutes of compiling shaders.
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
    if(TARGET taper_metal) # the same over Metal's interface
        add_test(NAME gpu_metal_operators COMMAND ${with_torch} ${CMAKE_CURRENT_SOURCE_DIR}/gpu/gpu_operators.py $<TARGET_FILE:taper_metal>)
        add_test(NAME gpu_metal_networks COMMAND ${with_torch} ${CMAKE_CURRENT_SOURCE_DIR}/gpu/gpu_networks.py $<TARGET_FILE:taper_metal>)
        add_test(NAME gpu_metal_half COMMAND ${with_torch} ${CMAKE_CURRENT_SOURCE_DIR}/gpu/gpu_operators.py $<TARGET_FILE:taper_metal> --half)
        set_tests_properties(gpu_metal_operators gpu_metal_half gpu_metal_networks PROPERTIES LABELS "metal;oracle" SKIP_RETURN_CODE 77 ENVIRONMENT
            "TAPER_GPU=metal")
    endif()
    # PyTorch loads the double of libneuralnetworks.so itself, which a sanitized library in a plain process would not allow.
    if(NOT TAPER_SANITIZE)
        add_test(NAME nnapi_pytorch COMMAND ${with_torch} ${CMAKE_CURRENT_SOURCE_DIR}/nnapi/pytorch_double.py
                                            ${CMAKE_BINARY_DIR}/tests/nnapi)
        # Operations in forms that PyTorch's converter does not write: PyTorch on the double, and Taper's lowering.
        add_test(NAME nnapi_forms COMMAND ${with_torch} ${models}/test_nnapi_forms.py ${taper} ${CMAKE_BINARY_DIR}/tests/nnapi)
        # Models on the device "nnapi", which is the double.
        add_test(NAME nnapi_whole_models COMMAND ${with_torch} ${CMAKE_CURRENT_SOURCE_DIR}/nnapi/whole_models.py ${taper}
                                                 ${CMAKE_BINARY_DIR}/tests/nnapi)
        # Programs made up at random, on it and converted.
        add_test(NAME nnapi_random_programs COMMAND ${with_torch} ${CMAKE_CURRENT_SOURCE_DIR}/nnapi/random_programs_nnapi.py ${taper}
                                                    ${CMAKE_BINARY_DIR}/tests/nnapi --programs 200 --no-pytorch)
        set_tests_properties(nnapi_pytorch nnapi_forms nnapi_whole_models nnapi_random_programs PROPERTIES LABELS "nnapi;oracle" SKIP_RETURN_CODE 77)
        # What taper optimize --backend nnapi writes: PyTorch on the double, and Taper.
        foreach(levels 29 27,28,30,31)
            string(REPLACE 27,28,30,31 levels name nnapi_convert_${levels})
            add_test(NAME ${name} COMMAND ${with_torch} ${models}/test_nnapi_convert.py ${taper} ${CMAKE_BINARY_DIR}/tests/nnapi
                                          --levels ${levels})
            set_tests_properties(${name} PROPERTIES LABELS "nnapi;oracle" SKIP_RETURN_CODE 77 ENVIRONMENT ATEN_CPU_CAPABILITY=avx2)
        endforeach()
    endif()
    # Files of bytecode 4 and 5 with the operators of their day.
    add_test(NAME old_bytecode COMMAND ${with_torch} ${models}/test_old_bytecode.py ${taper})
    add_test(NAME training_mode COMMAND ${with_torch} ${models}/test_training_mode.py ${taper})
    add_test(NAME without_schema COMMAND ${with_torch} ${models}/test_without_schema.py ${taper})
    # Where its calls stand in the source, as a file tells it.
    add_test(NAME debug_info COMMAND ${with_torch} ${models}/test_debug_info.py ${taper} ${made})
    set_tests_properties(debug_info PROPERTIES FIXTURES_REQUIRED made_samples ENVIRONMENT ATEN_CPU_CAPABILITY=avx2)
    # What is written for Vulkan and Metal.
    add_test(NAME gpu_files COMMAND ${with_torch} ${models}/test_gpu_files.py ${taper} ${made})
    set_tests_properties(gpu_files PROPERTIES FIXTURES_REQUIRED made_samples ENVIRONMENT ATEN_CPU_CAPABILITY=avx2)
    # Five networks of the zoo; run_zoo.py --all runs the 81.
    add_test(NAME zoo COMMAND ${with_torch} ${models}/run_zoo.py ${taper} mobilenet_v2 resnet18 shufflenet_v2_x0_5 squeezenet1_1
                              lraspp_mobilenet_v3_large)
    set_tests_properties(zoo PROPERTIES ENVIRONMENT ATEN_CPU_CAPABILITY=avx2)
    # What taper optimize writes does what the file does, in PyTorch too; run_optimize.py takes networks of the zoo.
    add_test(NAME conv_algorithms COMMAND ${with_torch} ${models}/test_conv_algorithms.py ${taper})
    add_test(NAME drawn_layers COMMAND ${with_torch} ${models}/test_layers.py ${taper})
    add_test(NAME quantized_winograd COMMAND ${with_torch} ${models}/test_quantized_winograd.py ${taper})
    # Layers in bands of rows, replayed, against PyTorch.
    add_test(NAME bands COMMAND ${with_torch} ${models}/test_bands.py ${taper})
    # The bits of PyTorch, where its builds agree.
    add_test(NAME bits COMMAND ${with_torch} ${models}/test_bits.py ${taper})
    # The same bits with any number of threads.
    add_test(NAME thread_bits COMMAND ${with_torch} ${models}/test_thread_bits.py ${taper})
    add_test(NAME thread_bits_all COMMAND ${with_torch} ${models}/test_thread_bits.py ${taper} --all)
    # Sums of inputs that make additions lose digits, against float64.
    add_test(NAME accuracy COMMAND ${with_torch} ${models}/test_accuracy.py ${taper})
    add_test(NAME einsum_weights COMMAND ${with_torch} ${models}/test_einsum_weights.py ${taper})
    add_test(NAME lines COMMAND ${with_torch} ${models}/test_lines.py ${taper})
    add_test(NAME lent_packs COMMAND ${with_torch} ${models}/test_lent_packs.py ${taper})
    add_test(NAME optimize COMMAND ${with_torch} ${models}/test_optimize.py ${taper} --samples ${SAMPLES} --samples ${made})
    set_tests_properties(optimize PROPERTIES FIXTURES_REQUIRED made_samples ENVIRONMENT ATEN_CPU_CAPABILITY=avx2)
    # Models as applications have them: two forms of each; test_apps.py without --quick takes every form and mode.
    add_test(NAME apps COMMAND ${with_torch} ${models}/test_apps.py ${taper} --quick)
    # int8 models: ranges as PyTorch's observers find them, the same integers there, no further from float than quantize_fx's.
    add_test(NAME quantize COMMAND ${with_torch} ${models}/test_quantize.py ${taper})
    set_tests_properties(quantize PROPERTIES ENVIRONMENT ATEN_CPU_CAPABILITY=avx2)
    # The three kinds of MobileNetV2 that the NNAPI tutorial makes, for the CPU and for NNAPI.
    add_test(NAME nnapi_tutorial COMMAND ${with_torch} ${models}/test_nnapi_tutorial.py ${taper})
    # Every operator that PyTorch's NNAPI converter knows, in small models; --filter TEXT: some of them.
    add_test(NAME nnapi_operators COMMAND ${with_torch} ${models}/test_nnapi_operators.py ${taper})
    set_tests_properties(nnapi_tutorial nnapi_operators PROPERTIES ENVIRONMENT ATEN_CPU_CAPABILITY=avx2)
    # What TorchScript has beyond lite modules and older versions of it; the overloads that PyTorch's compiler chooses.
    add_test(NAME torchscript COMMAND ${with_torch} ${models}/test_torchscript.py ${taper})
    add_test(NAME language COMMAND ${with_torch} ${models}/test_language.py ${taper})
    # Whatever changes an attribute, three calls, optimized and not.
    add_test(NAME attribute_changes COMMAND ${with_torch} ${models}/test_attribute_changes.py ${taper})
    # Gradients: programs that ask for them, and small force fields; --atoms N, --double, --times: larger ones, and times.
    add_test(NAME gradients COMMAND ${with_torch} ${models}/test_gradients.py ${taper})
    add_test(NAME force_fields COMMAND ${with_torch} ${models}/test_force_fields.py ${taper})
    add_test(NAME listing COMMAND ${with_torch} ${models}/test_listing.py ${taper})
    # The core operators of PyTorch 2 in exported programs, where TAPER_TORCH2 names a python with it.
    add_test(NAME pt2_operators COMMAND ${with_torch} ${models}/test_pt2_operators.py ${taper})
    add_test(NAME overload_order COMMAND ${with_torch} ${PROJECT_SOURCE_DIR}/scripts/overload_order.py)
    # Programs made up at random of all that the language has, in every form of file; --count N, --seed S: more and others.
    add_test(NAME generated_programs COMMAND ${with_torch} ${models}/generate_programs.py ${taper} --count 300)
    set_tests_properties(generated_programs pt2_operators PROPERTIES TIMEOUT 900)
    set_tests_properties(make_samples samples write convert old_bytecode without_schema training_mode debug_info gpu_files zoo conv_algorithms drawn_layers quantized_winograd bands accuracy einsum_weights lines lent_packs optimize
                         quantize nnapi_tutorial
                         nnapi_operators apps torchscript language attribute_changes gradients force_fields listing pt2_operators overload_order generated_programs
                         PROPERTIES LABELS "models;oracle" SKIP_RETURN_CODE 77)
    # Programs made up at random, of what compiler passes must be careful with; --modules N: more of them.
    add_test(NAME random_programs COMMAND ${with_torch} ${CMAKE_CURRENT_SOURCE_DIR}/passes/random_programs.py ${taper})
    set_tests_properties(random_programs PROPERTIES LABELS "passes;oracle" SKIP_RETURN_CODE 77)

    # Every operator case, once through the optimizer and the kernels, once through the reference.
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
    # Some of the cases as TorchScript; without --every: all.
    add_test(NAME ops_as_torchscript COMMAND ${with_torch} ${CMAKE_CURRENT_SOURCE_DIR}/ops/oracle.py ${taper} ${cases} --torchscript
                                             --every 40)
    set_tests_properties(ops_as_torchscript PROPERTIES LABELS "ops;oracle" SKIP_RETURN_CODE 77)
    # One sample of each operator in PyTorch's own database; without --max and --dtypes: about ten thousand.
    add_test(NAME opinfo COMMAND ${with_torch} ${CMAKE_CURRENT_SOURCE_DIR}/ops/run_opinfo.py ${taper} --max 1
                                 --dtypes float32,int64,bool)
    set_tests_properties(opinfo PROPERTIES LABELS "ops;oracle" SKIP_RETURN_CODE 77)

    # The same bits through a backend that keeps its tensors to itself, and what programs and samples do there.
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
    # All of what the tests above take some of.
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
