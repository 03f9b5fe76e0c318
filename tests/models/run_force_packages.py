#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""run_force_packages.py TAPER [FAMILY…]: builds small force fields of public packages with weights from a seed, scripts them with PyTorch 2, and
compares energies, forces and stresses that Taper computes with PyTorch's, in float32 and float64.

  torchani  AEVComputer and ANIModel, with and without a periodic cell
  nequip    EnergyModel with StressForceOutput
  mace      MACE and ScaleShiftMACE with forces, virials and stress
  sevenn    the model for LAMMPS, with the gradient of the vectors of edges (float32 only)

TAPER_TORCH2 names a Python with PyTorch 2 and these packages; without it the script is skipped. A family whose package is missing is skipped.
Checked with PyTorch 2.15, torchani 2.2.4, e3nn 0.5.5, nequip 0.6.1, mace-torch 0.3.16, sevenn 0.13.0 and ase 3.29. A result may differ by 1e-5 of
its largest element in float32, and by 1e-10 in float64 (torchani: 1e-7, because PyTorch rounds alpha of celu to float32 in its gradient). Ends with
"N passed, N failed"."""
import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import warnings
from typing import Dict

SKIPPED = 77
ATOMS, BOX, CUTOFF = 24, 6.5, 4.0


def water(np):
    """Returns positions of 24 atoms in a periodic box, for ase.Atoms."""
    import ase
    return ase.Atoms("H16O8", positions=np.random.RandomState(0).rand(ATOMS, 3) * 6, cell=np.eye(3) * BOX, pbc=True)


# ---- families: each yields (name, scripted module, inputs)

def torchani_models(torch, np, dtype):
    import torchani
    aev = torchani.AEVComputer(5.2, 3.5, torch.tensor([16.0]), torch.linspace(0.9, 4.9, 16), torch.tensor([8.0]), torch.tensor([32.0]),
                               torch.linspace(0.9, 2.9, 4), torch.linspace(0.19, 2.9, 8), 4)
    net = lambda: torch.nn.Sequential(torch.nn.Linear(aev.aev_length, 64), torch.nn.CELU(0.1), torch.nn.Linear(64, 1))
    ani = torchani.ANIModel([net() for _ in range(4)])

    class Free(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.aev, self.ani = aev, ani

        def forward(self, species: torch.Tensor, coordinates: torch.Tensor):
            coordinates = coordinates.detach().requires_grad_(True)
            energy = self.ani(self.aev((species, coordinates))).energies
            forces = torch.autograd.grad([energy.sum()], [coordinates])[0]
            assert forces is not None
            return energy, -forces

    class Periodic(Free):
        def forward(self, species: torch.Tensor, coordinates: torch.Tensor, cell: torch.Tensor, pbc: torch.Tensor):
            coordinates = coordinates.detach().requires_grad_(True)
            energy = self.ani(self.aev((species, coordinates), cell, pbc)).energies
            forces = torch.autograd.grad([energy.sum()], [coordinates])[0]
            assert forces is not None
            return energy, -forces

    species, coordinates = torch.randint(0, 4, (1, ATOMS)), (torch.rand(1, ATOMS, 3) * 9).to(dtype)
    yield "free", torch.jit.script(Free().to(dtype)), (species, coordinates)
    yield "periodic", torch.jit.script(Periodic().to(dtype)), (species, coordinates, torch.eye(3, dtype=dtype) * 11, torch.tensor([True] * 3))


def nequip_models(torch, np, dtype):
    from e3nn.util.jit import script
    from nequip.data import AtomicData
    from nequip.model import EnergyModel, SimpleIrrepsConfig, StressForceOutput
    from nequip.utils import Config
    config = Config.from_dict(dict(r_max=CUTOFF, num_layers=2, l_max=2, parity=True, num_features=8, nonlinearity_type="gate", num_basis=8,
                                   BesselBasis_trainable=True, PolynomialCutoff_p=6, invariant_layers=2, invariant_neurons=16, avg_num_neighbors=8.0,
                                   use_sc=True, num_types=2, chemical_symbols=["H", "O"], type_names=["H", "O"]))
    SimpleIrrepsConfig(config)
    model = StressForceOutput(EnergyModel(config, initialize=False)).to(dtype).eval()
    data = AtomicData.to_AtomicDataDict(AtomicData.from_ase(water(np), r_max=CUTOFF))
    data["atom_types"] = torch.tensor([0] * 16 + [1] * 8).view(-1, 1)
    kept = ("pos", "edge_index", "edge_cell_shift", "cell", "atom_types", "batch", "ptr")
    inputs = {k: v.to(dtype) if v.is_floating_point() else v for k, v in data.items() if k in kept}
    yield "scripted", script(model), (inputs,)
    yield "frozen", torch.jit.freeze(script(model)), (inputs,)


def mace_models(torch, np, dtype):
    from e3nn import o3
    from e3nn.util import jit
    from mace import data, modules, tools
    from mace.tools import torch_geometric
    table = tools.AtomicNumberTable([1, 8])
    block = modules.interaction_classes["RealAgnosticResidualInteractionBlock"]
    options = dict(r_max=CUTOFF, num_bessel=8, num_polynomial_cutoff=6, max_ell=2, interaction_cls=block, interaction_cls_first=block,
                   num_interactions=2, num_elements=2, hidden_irreps=o3.Irreps("16x0e+16x1o"), MLP_irreps=o3.Irreps("8x0e"),
                   gate=torch.nn.functional.silu, atomic_energies=np.array([-1.0, -3.0]), avg_num_neighbors=8.0, atomic_numbers=table.zs,
                   correlation=3)
    atoms = data.AtomicData.from_config(data.config_from_atoms(water(np)), z_table=table, cutoff=CUTOFF)
    batch = next(iter(torch_geometric.dataloader.DataLoader(dataset=[atoms], batch_size=1))).to_dict()
    inputs = {k: v.to(dtype) if v.is_floating_point() else v for k, v in batch.items() if isinstance(v, torch.Tensor)}

    class Forces(torch.nn.Module):
        def __init__(self, model):
            super().__init__()
            self.model = model

        def forward(self, data: Dict[str, torch.Tensor]):
            out = self.model(data, False, True, True, True)
            energy, forces, stress = out["energy"], out["forces"], out["stress"]
            assert energy is not None and forces is not None and stress is not None
            return energy, forces, stress

    models = {"plain": lambda: modules.MACE(**options),
              "scale_shift": lambda: modules.ScaleShiftMACE(**options, atomic_inter_scale=1.5, atomic_inter_shift=0.1)}
    for name, make in models.items():
        yield name, torch.jit.script(Forces(jit.compile(make().to(dtype).eval()))), (inputs,)


def sevenn_models(torch, np, dtype):
    import sevenn._keys as key
    from e3nn.util.jit import script
    if dtype != torch.float32:
        return  # skipped, because the package makes constants of float32
    from sevenn._const import DEFAULT_E3_EQUIVARIANT_MODEL_CONFIG
    from sevenn.model_build import build_E3_equivariant_model
    from sevenn.train.dataload import unlabeled_atoms_to_graph
    config = {**DEFAULT_E3_EQUIVARIANT_MODEL_CONFIG, key.CUTOFF: CUTOFF, key.NODE_FEATURE_MULTIPLICITY: 8, key.NUM_CONVOLUTION: 2, key.LMAX: 2,
              key.CHEMICAL_SPECIES: ["H", "O"], key.CHEMICAL_SPECIES_BY_ATOMIC_NUMBER: [1, 8], key.NUM_SPECIES: 2, key.TYPE_MAP: {1: 0, 8: 1},
              key.SHIFT: 0.1, key.SCALE: 1.1, key.CONV_DENOMINATOR: 8.0}
    model = build_E3_equivariant_model(config)
    model.delete_module_by_key("force_output")  # the deploy script does this, because LAMMPS asks for gradients itself
    model.eval_type_map = False
    model.set_is_batch_data(False)

    class Edges(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = script(model.to(dtype).eval())

        def forward(self, data: Dict[str, torch.Tensor]):
            data["edge_vec"] = data["edge_vec"].detach().requires_grad_(True)
            out = self.model(data)
            energy = out["inferred_total_energy"]
            forces = torch.autograd.grad([energy], [data["edge_vec"]])[0]
            assert forces is not None
            return energy, forces, out["atomic_energy"]

    graph = unlabeled_atoms_to_graph(water(np), CUTOFF)
    inputs = {"x": torch.tensor([0] * 16 + [1] * 8), "edge_index": torch.tensor(np.array(graph["edge_index"])).long(),
              "edge_vec": torch.tensor(np.array(graph["edge_vec"])).to(dtype), "num_atoms": torch.tensor(ATOMS)}
    yield "edges", torch.jit.script(Edges()), (inputs,)


FAMILIES = {"torchani": torchani_models, "nequip": nequip_models, "mace": mace_models, "sevenn": sevenn_models}


# ---- comparing

def clone(value):
    if isinstance(value, dict):
        return {k: clone(x) for k, x in value.items()}
    return value.detach().clone()


def flat(value, name, into):
    """Adds the tensors of a result, with the names that `taper run -o FILE.npz` gives them."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else ():
        flat(item, f"{name}.{key}", into)
    if hasattr(value, "detach"):
        into[name] = value.detach().numpy()
    return into


def written(value, folder, np):
    if isinstance(value, dict):
        return {k: written(x, folder, np) for k, x in value.items()}
    path = os.path.join(folder, f"{len(os.listdir(folder))}.npy")
    np.save(path, value.numpy())
    return "@" + path


def difference(taper, module, inputs, bound, np):
    """Returns None if Taper's results are PyTorch's, otherwise the difference."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "model.pt"), os.path.join(folder, "out.npz")
        module.save(path)
        want = flat(module(*[clone(x) for x in inputs]), "output", {})
        arguments = [word for x in inputs for word in ("-i", json.dumps(written(x, folder, np)))]
        done = subprocess.run([taper, "run", path, "-o", out, *arguments], capture_output=True, text=True)
        if done.returncode != 0:
            return done.stderr.strip()[:600]
        got = np.load(out)
        for name, b in want.items():
            a = got.get(name)
            if a is None or a.shape != b.shape or a.dtype != b.dtype:
                return f"{name}: {None if a is None else (a.dtype, a.shape)}, wanted {b.dtype} {b.shape}"
            if b.size and not np.abs(a - b).max() <= bound * max(np.abs(b).max(), 1e-30):
                return f"{name}: differs by {np.abs(a - b).max() / np.abs(b).max():.1e} of the largest element"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("taper")
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=", ".join(FAMILIES))
    a = parser.parse_args()
    python = os.environ.get("TAPER_TORCH2")
    if not python:
        print("skipped: TAPER_TORCH2 names no Python with PyTorch 2")
        return SKIPPED
    if "TAPER_FORCES_CHILD" not in os.environ:
        return subprocess.run([python, "-W", "ignore", *sys.argv], env=dict(os.environ, TAPER_FORCES_CHILD="1")).returncode
    warnings.filterwarnings("ignore")
    import numpy as np
    import torch
    passed = failed = 0
    for family in a.families or FAMILIES:
        if importlib.util.find_spec(family) is None:
            print(f"skipped {family}: this Python has no such package", flush=True)
            continue
        for dtype, bound in (torch.float32, 1e-5), (torch.float64, 1e-10):
            torch.manual_seed(0)
            torch.set_default_dtype(dtype if family in ("nequip", "mace") else torch.float32)
            for name, module, inputs in FAMILIES[family](torch, np, dtype):
                wrong = difference(a.taper, module, inputs, max(bound, 1e-7) if family == "torchani" else bound, np)
                passed, failed = passed + (wrong is None), failed + (wrong is not None)
                print(f"{'agrees' if wrong is None else 'FAILED'} {family} {name} {str(dtype)[6:]}{': ' + wrong if wrong else ''}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
