# SPDX-License-Identifier: BSD-2-Clause
"""Reasons why Taper and PyTorch may disagree about a program that computes gradients (gradients.py). Each reason is a variation of the program
with which PyTorch must give Taper's results, so a reason explains no other difference. SEEDS lists single programs."""
import re

import torch

import scripted

# Programs that no variation explains: the number of the program, and the reason.
SEEDS = {
    61001140: "Taper refuses the gradient of fill_diagonal_ on an expanded view, whose diagonal PyTorch sees as a view of its own",
    61001347: "a gradient that is a view of a given one is written to, which PyTorch refuses",
    81000578: "a branch depends on the layer norm of equal elements: 0 in Taper, and -1e-15 in PyTorch",
    92000258: "detach_ of a result of einsum, which is a view of a product in PyTorch and a tensor of its own in Taper",
    86000061: "the layer norm of equal elements multiplies the rounding of their mean by 316",
    70001001489: "the layer norm of equal elements multiplies the rounding of their mean by 316",
    71001000005: "PyTorch adds the gradient of a later torch.autograd.grad to x.grad, if x was a factor of a write to a view",
    71002000297: "a gradient that is a view of a given one is written to, which PyTorch refuses",
    71003000969: "a second derivative by a result of prod: PyTorch's gradient of prod reads the result, and Taper's reads the factors",
    71004000163: "PyTorch refuses detach_ of a view; the run records nothing for gradients, so Taper does not look",
    71005000761: "a branch compares the mean of equal elements with one of the elements",
    71002000341: "a branch depends on the variance of equal elements: 0 in Taper, and positive in PyTorch",
}


def with_copies(forms, model, calls):
    """PyTorch saves tensors of which a gradient reads only the sizes, and refuses a later write to them."""
    with torch.autograd.graph.saved_tensors_hooks(torch.clone, lambda x: x):
        return forms.results_of(model, calls)


def as_python(forms, _model, calls):
    """PyTorch's interpreter leaves out writes to tensors that nothing reads later, with the errors that these writes would raise."""
    with scripted.module(forms.source, f"{forms.seed}_again") as made, torch.enable_grad():
        return forms.results_of(made, calls)


def without_dead_code(forms, model, calls):
    """Taper leaves out operators whose results nothing reads, with the errors that these operators would raise."""
    loaded = torch.jit.load(model)
    for run in ("inline", "peephole", "constant_propagation", "dce"):
        getattr(torch._C, f"_jit_pass_{run}")(loaded.forward.graph)
    return forms.results_of(loaded, calls)


def variation(source):
    def results(forms, _model, calls):
        path = forms.path("variation.pt")
        scripted.build(source(forms.source), f"{forms.seed}_again").save(path)
        return forms.results_of(path, calls)
    results.__doc__ = source.__doc__
    return results


@variation
def with_copied_gradients(source):
    """PyTorch's gradients of some operators are views that were made without recording, or expanded tensors. PyTorch refuses writes to such
    gradients."""
    return source.replace("    return g\n", "    return g.clone()\n")


@variation
def with_kept_graphs(source):
    """PyTorch saves, and frees, tensors of which a gradient reads only the sizes. A second gradient is then refused."""
    source = re.sub(r"retain_graph=(not False|False|True)", "retain_graph=True", source).replace(".backward()", ".backward(retain_graph=True)")
    return re.sub(r"(?m)^((?!.*retain_graph).*= torch\.autograd\.grad\(.*)\)$", r"\1, retain_graph=True)", source)


PLAIN = """

def plain(gradients: Optional[List[Optional[Tensor]]]) -> Optional[List[Optional[Tensor]]]:
    out: List[Optional[Tensor]] = []
    if gradients is not None:
        for g in gradients:
            out.append(None if g is None else g.detach())
    return out
"""


@variation
def with_plain_outputs(source):
    """PyTorch's gradients need gradients themselves if they are views of a given gradient that needs one, even without create_graph."""
    lines, start = [], "torch.jit.annotate(Optional[List[Optional[Tensor]]], ["
    for line in source.split("\n"):
        at = line.find(start)
        if at >= 0 and "create_graph=True" not in line:
            end, depth = at + len(start), 1
            while depth != 0:
                depth += (line[end] in "([") - (line[end] in ")]")
                end += 1
            line = f"{line[:at]}plain({line[at:end]})){line[end + 1:]}"
        lines.append(line)
    text = "\n".join(lines)
    return text.replace("\n\ndef given", PLAIN + "\n\ndef given", 1)


# The message of PyTorch, or of Taper, that a reason is about (empty: neither raises), the reason's name in the summary, and the variation.
REASONS = (
    ("modified (by an )?inplace", "PyTorch refuses what it does not need", with_copies),
    ("created in no_grad mode|more than one element of the written-to", "writes to gradients that are views", with_copied_gradients),
    ("backward through the graph a second time", "PyTorch frees what it does not need", with_kept_graphs),
    ("^$", "gradients that are views of given ones", with_plain_outputs),
    ("", "dead code that Taper leaves out", without_dead_code),
    ("", "dead code that PyTorch leaves out", as_python),
)


def find(forms, model, wanted, agrees, said):
    """Returns the name of the reason for a difference, or None. agrees: a function that returns true if given results of PyTorch are equal to
    Taper's. said: Taper's message."""
    if forms.seed in SEEDS:
        return "listed"
    raised = wanted[-1][1] or ""
    for pattern, name, results in REASONS:
        if not re.search(pattern, raised) and not re.search(pattern, said):
            continue
        try:
            found = results(forms, model if model.endswith(".pt") else forms.pt, forms.calls[:len(wanted)])
        except Exception:  # noqa: BLE001: whatever the variation raises
            continue
        missing = results is with_copies and "is not implemented" in (found[-1][1] or "")
        if missing or agrees(found):
            return name
    return None
