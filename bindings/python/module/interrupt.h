// SPDX-License-Identifier: BSD-2-Clause
// Ctrl-C during a run. run.c calls these functions with the GIL held.
#ifndef TAPER_PYTHON_INTERRUPT_H
#define TAPER_PYTHON_INTERRUPT_H

#include "binding.h"

// Lets SIGINT cancel the session's run until interrupt_end. Returns false if SIGINT is left alone.
bool interrupt_begin(const binding_state *state, taper_session *session);
bool interrupt_asked(void); // returns true if SIGINT came after interrupt_begin
void interrupt_end(void);

void interrupt_forget(void); // removes the parent's run in a child process

#endif
