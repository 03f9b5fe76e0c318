list(APPEND TAPER_SOURCES
    src/runtime/context.c
    src/runtime/inspect.c
    src/runtime/interpreter.c
    src/runtime/interpreter_node.c
    src/runtime/liveness.c
    src/runtime/model.c
    src/runtime/model_config.c
    src/runtime/model_info.c
    src/runtime/planner.c
    src/runtime/program.c
    src/runtime/session.c
    src/runtime/value_api.c
)
