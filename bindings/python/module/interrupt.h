// SPDX-License-Identifier: BSD-2-Clause
// Ctrl-C during a run; called by run.c, with the GIL.
#ifndef TAPER_PYTHON_INTERRUPT_H
#define TAPER_PYTHON_INTERRUPT_H

#include "binding.h"

// True: from now on SIGINT cancels the session's run, until interrupt_end.
bool interrupt_begin(const binding_state *state, taper_session *session);
bool interrupt_asked(void); // since it began
void interrupt_end(void);

void interrupt_forget(void); // in a child process, of a run of its parent

#endif
