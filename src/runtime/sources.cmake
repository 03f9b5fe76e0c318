list(APPEND TAPER_SOURCES
    src/runtime/context.c
    src/runtime/device.c
    src/runtime/device_names.c
    src/runtime/evaluation.c
    src/runtime/inspect.c
    src/runtime/interpreter.c
    src/runtime/interpreter_node.c
    src/runtime/interpreter_tell.c
    src/runtime/made_program.c
    src/runtime/model.c
    src/runtime/model_device.c
    src/runtime/model_functions.c
    src/runtime/model_info.c
    src/runtime/model_open.c
    src/runtime/model_programs.c
    src/runtime/planner.c
    src/runtime/profile.c
    src/runtime/program.c
    src/runtime/results.c
    src/runtime/run.c
    src/runtime/session.c
    src/runtime/value_api.c
)
if(NOT TAPER_PROFILE STREQUAL "one")
    list(APPEND TAPER_SOURCES src/runtime/model_packs.c src/runtime/recording.c src/runtime/recording_make.c src/runtime/recording_parts.c
         src/runtime/recording_trace.c)
else()
    list(APPEND TAPER_SOURCES src/runtime/recording_none.c)
endif()
if(TAPER_WITH_DRAFTS)
    list(APPEND TAPER_SOURCES src/runtime/archive_reader.c src/runtime/archive_writer.c src/runtime/session_state.c)
    list(APPEND TAPER_SOURCES src/runtime/calibrator.c src/runtime/calibrator_compare.c src/runtime/draft.c
         src/runtime/draft_bundle.c src/runtime/draft_deflate.c src/runtime/draft_reach.c src/runtime/draft_schema.c
         src/runtime/draft_states.c)
elseif(TAPER_BUILD_TOOLS OR TAPER_WITH_JNI) # these functions return an error in this build; a library without programs omits them
    list(APPEND TAPER_SOURCES src/runtime/draft_none.c src/runtime/calibrator_none.c)
endif()
if(TAPER_WITH_DRAFTS OR TAPER_BUILD_TOOLS OR (TAPER_WITH_JNI AND TAPER_WITH_PASSES))
    list(APPEND TAPER_SOURCES src/runtime/inspect_graph.c src/runtime/inspect_place.c src/runtime/model_config.c)
endif()
if(NOT TAPER_PROFILE STREQUAL "one" OR TAPER_BUILD_TOOLS) # a program for one model knows its device, types and results, and does not need these files
    list(APPEND TAPER_SOURCES src/runtime/caching.c src/runtime/device_options.c src/runtime/device_text.c src/runtime/run_into.c
         src/runtime/type_api.c)
endif()
if(TAPER_WITH_OPERATORS AND NOT TAPER_WITH_DRAFTS) # the headers for C++ call these functions
    list(APPEND TAPER_SOURCES src/runtime/archive_none.c)
endif()
if(TAPER_WITH_OPERATORS)
    list(APPEND TAPER_SOURCES src/ops/call/fit.c src/ops/list/registered.c src/ops/list/registered_add.c src/runtime/generator.c
         src/runtime/operator.c)
endif()
if(NOT TAPER_PROFILE STREQUAL "one" OR TAPER_WITH_GRADIENTS)
    list(APPEND TAPER_SOURCES src/runtime/gradient_api.c)
endif()
if(TAPER_WITH_GRADIENTS)
    list(APPEND TAPER_SOURCES src/runtime/model_gradients.c src/runtime/session_tape.c)
endif()
if(TAPER_PROFILE STREQUAL "full")
    list(APPEND TAPER_SOURCES src/runtime/cpu_peak.c)
endif()
