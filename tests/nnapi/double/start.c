// SPDX-License-Identifier: BSD-2-Clause
// The ways to run an execution: synchronously, in a burst, or on a thread with an event.
#include <fcntl.h>
#include <stdlib.h>

#include "model.h"

#if DOUBLE_LEVEL >= 29

typedef struct burst_body {
    double_body head;
    compilation_body *compilation;
    bool busy;
} burst_body;

int ANeuralNetworksExecution_compute(ANeuralNetworksExecution *execution)
{
    ENTER;
    execution_body *body;
    TRY(double_find(execution, DOUBLE_EXECUTION, &body));
    TRY(double_begin_run(body));
    LEAVE(double_run(body, __func__));
}

static void destroy_burst(void *body)
{
    burst_body *burst = body;
    double_drop(burst->compilation);
    free(burst);
}

int ANeuralNetworksBurst_create(ANeuralNetworksCompilation *compilation, ANeuralNetworksBurst **burst)
{
    ENTER;
    compilation_body *of;
    if (burst == NULL) {
        MISUSE(ANEURALNETWORKS_UNEXPECTED_NULL, "where the burst should go is NULL");
    }
    *burst = NULL;
    TRY(double_find(compilation, DOUBLE_COMPILATION, &of));
    if (!of->finished) {
        MISUSE(ANEURALNETWORKS_BAD_STATE, "the compilation is not finished");
    }
    burst_body *body = calloc(1, sizeof *body);
    *burst = body != NULL ? double_object(DOUBLE_BURST, body, destroy_burst) : NULL;
    if (*burst == NULL) {
        free(body);
        LEAVE(ANEURALNETWORKS_OUT_OF_MEMORY);
    }
    double_hold(of);
    body->compilation = of;
    LEAVE(ANEURALNETWORKS_NO_ERROR);
}

void ANeuralNetworksBurst_free(ANeuralNetworksBurst *burst)
{
    (void)double_enter(__func__);
    burst_body *body;
    if (double_end(burst, DOUBLE_BURST, &body) == ANEURALNETWORKS_NO_ERROR) {
        if (body->busy) {
            (void)double_misuse(0, "an execution runs in the burst");
        }
        double_drop(body);
    }
    double_leave();
}

int ANeuralNetworksExecution_burstCompute(ANeuralNetworksExecution *execution, ANeuralNetworksBurst *burst)
{
    ENTER;
    execution_body *body;
    burst_body *in;
    TRY(double_find(execution, DOUBLE_EXECUTION, &body));
    TRY(double_find(burst, DOUBLE_BURST, &in));
    if (in->compilation != body->compilation) {
        MISUSE(ANEURALNETWORKS_BAD_DATA, "the burst is of another compilation");
    }
    if (in->busy) {
        MISUSE(ANEURALNETWORKS_BAD_STATE, "another execution runs in the burst");
    }
    TRY(double_begin_run(body));
    in->busy = true;
    double_hold(in);
    const int code = double_run(body, __func__);
    in->busy = false;
    double_drop(in);
    LEAVE(code);
}

#endif

// ---- events

typedef struct event_body {
    double_body head;
    execution_body *execution; // execution whose end the event signals; NULL if the event was made from a fence
    pthread_t thread;
    bool done, started;
    int result;
} event_body;

// The thread is joined before its event is freed, so that no thread is left when the library is unloaded.
static void destroy_event(void *body)
{
    event_body *event = body;
    if (event->started) {
        double_leave();
        pthread_join(event->thread, NULL);
        double_resume("ANeuralNetworksEvent_free");
    }
    if (event->execution != NULL) {
        double_drop(event->execution);
    }
    free(event);
}

static void *run_event(void *started)
{
    static const char name[] = "ANeuralNetworksExecution_startCompute";
    event_body *event = started;
    double_resume(name);
    event->result = double_run(event->execution, name);
    event->done = true;
    double_wake();
    double_leave();
    return NULL;
}

static int start(ANeuralNetworksExecution *execution, ANeuralNetworksEvent **event)
{
    execution_body *body;
    if (event == NULL) {
        return double_misuse(ANEURALNETWORKS_UNEXPECTED_NULL, "where the event should go is NULL");
    }
    *event = NULL;
    int code = double_find(execution, DOUBLE_EXECUTION, &body);
    if (code != ANEURALNETWORKS_NO_ERROR) {
        return code;
    }
    event_body *made = calloc(1, sizeof *made);
    ANeuralNetworksEvent *handle = made != NULL ? double_object(DOUBLE_EVENT, made, destroy_event) : NULL;
    if (handle == NULL) {
        free(made);
        return ANEURALNETWORKS_OUT_OF_MEMORY;
    }
    const execution_state before = body->state;
    code = double_begin_run(body);
    if (code == ANEURALNETWORKS_NO_ERROR) {
        double_hold(body);
        made->execution = body;
        if (pthread_create(&made->thread, NULL, run_event, made) == 0) {
            made->started = true;
            *event = handle;
            return code;
        }
        body->state = before;
        code = ANEURALNETWORKS_OUT_OF_MEMORY;
    }
    (void)double_end(handle, DOUBLE_EVENT, &made);
    double_drop(made);
    return code;
}

int ANeuralNetworksExecution_startCompute(ANeuralNetworksExecution *execution, ANeuralNetworksEvent **event)
{
    ENTER;
    LEAVE(start(execution, event));
}

static int wait_for(event_body *body)
{
    double_hold(body);
    while (!body->done) {
        double_wait();
    }
    const int code = body->result;
    double_drop(body);
    return code;
}

int ANeuralNetworksEvent_wait(ANeuralNetworksEvent *event)
{
    ENTER;
    event_body *body;
    TRY(double_find(event, DOUBLE_EVENT, &body));
    LEAVE(wait_for(body));
}

void ANeuralNetworksEvent_free(ANeuralNetworksEvent *event)
{
    (void)double_enter(__func__);
    event_body *body;
    if (double_end(event, DOUBLE_EVENT, &body) == ANEURALNETWORKS_NO_ERROR) {
        double_drop(body);
    }
    double_leave();
}

#if DOUBLE_LEVEL >= 30

// The dependencies have finished when this function returns, which the API allows.
int ANeuralNetworksExecution_startComputeWithDependencies(ANeuralNetworksExecution *execution,
                                                          const ANeuralNetworksEvent *const *dependencies,
                                                          uint32_t numDependencies, uint64_t duration,
                                                          ANeuralNetworksEvent **event)
{
    ENTER;
    execution_body *of;
    if (dependencies == NULL && numDependencies != 0) {
        MISUSE(ANEURALNETWORKS_UNEXPECTED_NULL, "%u events at NULL", numDependencies);
    }
    TRY(double_find(execution, DOUBLE_EXECUTION, &of));
    if (duration != 0 && (!of->compilation->chosen || of->compilation->device_count != 1)) {
        MISUSE(ANEURALNETWORKS_BAD_DATA, "a time limit is for a compilation for one device");
    }
    for (uint32_t i = 0; i < numDependencies; i++) {
        event_body *body;
        TRY(double_find(dependencies[i], DOUBLE_EVENT, &body));
        TRY(wait_for(body));
    }
    LEAVE(start(execution, event));
}

int ANeuralNetworksEvent_createFromSyncFenceFd(int syncFenceFd, ANeuralNetworksEvent **event)
{
    ENTER;
    if (event == NULL) {
        MISUSE(ANEURALNETWORKS_UNEXPECTED_NULL, "where the event should go is NULL");
    }
    *event = NULL;
    if (syncFenceFd <= 0 || fcntl(syncFenceFd, F_GETFD) < 0) {
        MISUSE(ANEURALNETWORKS_BAD_DATA, "descriptor %d", syncFenceFd);
    }
    event_body *body = calloc(1, sizeof *body);
    *event = body != NULL ? double_object(DOUBLE_EVENT, body, destroy_event) : NULL;
    if (*event == NULL) {
        free(body);
        LEAVE(ANEURALNETWORKS_OUT_OF_MEMORY);
    }
    body->done = true;
    LEAVE(ANEURALNETWORKS_NO_ERROR);
}

int ANeuralNetworksEvent_getSyncFenceFd(const ANeuralNetworksEvent *event, int *syncFenceFd)
{
    ENTER;
    event_body *body;
    if (syncFenceFd == NULL) {
        MISUSE(ANEURALNETWORKS_UNEXPECTED_NULL, "where the answer should go is NULL");
    }
    *syncFenceFd = -1;
    TRY(double_find(event, DOUBLE_EVENT, &body));
    LEAVE(ANEURALNETWORKS_BAD_DATA); // not a misuse: this driver's events have no fence
}

#endif
