// SPDX-License-Identifier: BSD-2-Clause
// A part of inspect.c: reports the peak rate of the processor, to which an operator can be compared.
#ifndef TAPER_RUNTIME_INSPECT_PEAK_H
#define TAPER_RUNTIME_INSPECT_PEAK_H

static void measure_peak(taper_session *session)
{
    if (session->peak.flops == 0) {
        session->peak = taper_cpu_measure_peak(session->model->context);
    }
}

// Sets the CPU's peak. Parts of an operator that ran on another device are separate items with the peak of that device.
static void say_peak(const taper_session *session, const taper_profile_site *site, taper_profile_item *item)
{
    if (site->instruction->segment == NULL || site->instruction->segment->device == session->model->context->host) {
        const taper_op *op = site->instruction->op;
        const bool quantized =
            taper_row_on_quantized(op) == TAPER_ON_QUANTIZED_ANY && !taper_op_has(op, TAPER_OP_TARGET);
        item->bytes = site->bytes;
        item->peak_flops = quantized ? session->peak.operations : session->peak.flops;
        item->peak_bytes = session->peak.bytes;
    }
}

#endif
