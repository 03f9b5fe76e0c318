# SPDX-License-Identifier: BSD-2-Clause
# Linear algebra compared with PyTorch: values, strides, dtypes, .out forms, and calls that must raise. Vectors that are
# unique up to a factor agree, because PyTorch and Taper both call LAPACK. CASES: (name, source of a scripted function,
# builder of its arguments).
import torch

SUMS = True
CASES = []
DTYPES = (torch.float32, torch.float64, torch.complex64, torch.complex128)
ONE, TWO, THREE, FOUR = "Tensor", "Tuple[Tensor, Tensor]", "Tuple[Tensor, Tensor, Tensor]", "Tuple[Tensor, Tensor, Tensor, Tensor]"


def random(*sizes, seed=0, dtype=torch.float32):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(*sizes, generator=generator, dtype=torch.float64)
    return (torch.complex(x, torch.randn(*sizes, generator=generator, dtype=torch.float64)) if dtype.is_complex else x).to(dtype)


def square(*sizes, seed=0, dtype=torch.float32):
    """Returns a well-conditioned square matrix."""
    return random(*sizes, seed=seed, dtype=dtype) + 4 * torch.eye(sizes[-1], dtype=dtype)


def positive(*sizes, dtype=torch.float32):
    x = square(*sizes, dtype=dtype)
    return x @ x.mH


def symmetric(*sizes, dtype=torch.float32):
    x = random(*sizes, dtype=dtype)
    return x + x.mH


def add(name, expression, args, result=ONE, before="", options=None):
    """args: tensors a, b, …; expression: the result."""
    if name.startswith(("ldl_factor", "matrix_exp")):  # the error of these functions depends on the condition of the whole matrix
        options = {"whole": True} | (options or {})
    names = ["a", "b", "c", "d"][:len(args)]
    body = "".join(f"    {line}\n" for line in before.split("\n") if line)
    text = f"def f({', '.join(n + ': Tensor' for n in names)}) -> {result}:\n{body}    return {expression}\n"
    CASES.append((name, text, tuple(args)) + (() if options is None else (options,)))


def every(name, expression, result, *makers, before="", dtypes=DTYPES):
    """Adds a case for each dtype."""
    for dtype in dtypes:
        add(f"{name}-{str(dtype)[6:]}", expression, [m(dtype) for m in makers], result, before)


def r(*sizes, seed=0):
    return lambda dtype: random(*sizes, seed=seed, dtype=dtype)


def s(*sizes, seed=0):
    return lambda dtype: square(*sizes, seed=seed, dtype=dtype)


def p(*sizes):
    return lambda dtype: positive(*sizes, dtype=dtype)


def h(*sizes):
    return lambda dtype: symmetric(*sizes, dtype=dtype)


def t(expression, count):
    """Returns (result, line before it) that convert a named tuple to a tuple, because the comparison does not support named tuples."""
    return ", ".join(f"x[{i}]" for i in range(count)), f"x = {expression}"


def tuples(name, expression, count, *makers, dtypes=DTYPES):
    items, before = t(expression, count)
    every(name, items, {2: TWO, 3: THREE, 4: FOUR}[count], *makers, before=before, dtypes=dtypes)


FEW = (torch.float32, torch.complex128)
EMPTY = ((0, 0), (2, 0, 0), (0, 3, 3))

# ---- LU
for shape in ((4, 4), (2, 5, 3), (2, 3, 5), (1, 1), (0, 3), (3, 0), (0, 3, 4)):
    tuples(f"lu-{shape}", "torch.linalg.lu(a)", 3, r(*shape), dtypes=FEW)
    tuples(f"lu_factor-{shape}", "torch.linalg.lu_factor(a)", 2, r(*shape), dtypes=FEW)
    tuples(f"lu_factor_ex-{shape}", "torch.linalg.lu_factor_ex(a)", 3, r(*shape), dtypes=FEW)
    items, before = t("torch.lu_unpack(y[0], y[1])", 3)
    every(f"lu_unpack-{shape}", items, THREE, r(*shape), before="y = torch.linalg.lu_factor(a)\n" + before, dtypes=FEW)
for flags in ("unpack_data=False", "unpack_pivots=False"):
    items, before = t(f"torch.lu_unpack(y[0], y[1], {flags})", 3)
    every(f"lu_unpack-{flags}", items, THREE, r(2, 4, 3), before="y = torch.linalg.lu_factor(a)\n" + before, dtypes=FEW)
for left in (True, False):
    for adjoint in (True, False):
        for sizes in ((4, 4), (1, 4, 4), (2, 4, 4)):
            every(f"lu_solve-{left}-{adjoint}-{sizes}", f"torch.linalg.lu_solve(y[0], y[1], b, left={left}, adjoint={adjoint})",
                  ONE, s(*sizes), r(2, 4, 3) if left else r(2, 3, 4), before="y = torch.linalg.lu_factor(a)", dtypes=FEW)
every("lu_solve-old", "torch.lu_solve(b, y[0], y[1])", ONE, s(2, 4, 4), r(4, 3), before="y = torch.linalg.lu_factor(a)")
add("lu_solve-pivots", "torch.linalg.lu_solve(a, torch.tensor([9, 1], dtype=torch.int32), b)", [square(2, 2), random(2, 1)])
add("lu_solve-pivots-0", "torch.lu_unpack(a, torch.tensor([0, 1], dtype=torch.int32))[0]", [square(2, 2)])
add("lu_factor-singular", "torch.linalg.lu_factor(a)[0]", [torch.zeros(3, 3)])
add("lu_factor_ex-singular", "x[0], x[1], x[2]", [torch.zeros(2, 3, 3)], THREE, "x = torch.linalg.lu_factor_ex(a)")
add("lu-no-pivot", "torch.linalg.lu(a, pivot=False)[0]", [random(3, 3)])
tuples("lu_with_info", "torch._lu_with_info(a)", 3, s(2, 3, 3))
tuples("lu-large", "torch.linalg.lu(a)", 3, r(70, 70))

# ---- inverses, determinants, systems
for sizes in ((4, 4), (2, 4, 4), (2, 0, 0), (0, 3, 3), (1, 1)):
    every(f"inverse-{sizes}", "torch.inverse(a)", ONE, s(*sizes))
    every(f"inv_ex-{sizes}", "torch.linalg.inv_ex(a)[0], torch.linalg.inv_ex(a)[1]", TWO, s(*sizes), dtypes=FEW)
    for name in ("det", "logdet", "linalg.det"):
        every(f"{name}-{sizes}", f"torch.{name}(a)", ONE, s(*sizes))
    tuples(f"slogdet-{sizes}", "torch.slogdet(a)", 2, r(*sizes))
    tuples(f"_det-{sizes}", "torch._linalg_det(a)", 3, r(*sizes), dtypes=FEW)
    tuples(f"_slogdet-{sizes}", "torch._linalg_slogdet(a)", 4, r(*sizes), dtypes=FEW)
tuples("_det-turned", "torch._linalg_det(a.transpose(-1, -2))", 3, r(2, 4, 4))
add("logdet-negative", "torch.logdet(a)", [-torch.eye(3)])
add("det-singular", "torch.det(a)", [torch.zeros(3, 3)])
tuples("slogdet-singular", "torch.slogdet(a * 0)", 2, r(3, 3))
add("inverse-fails", "torch.inverse(a)", [torch.zeros(3, 3)])
add("inverse-fails-batch", "torch.inverse(a)", [torch.zeros(2, 3, 3)])
add("inverse-not-square", "torch.inverse(a)", [random(2, 3)])
add("inverse-vector", "torch.inverse(a)", [random(3)])
add("inverse-integer", "torch.inverse(a)", [torch.eye(3).long()])
add("inv_ex-singular", "x[0], x[1]", [torch.tensor([[1., 2.], [2., 4.]])], TWO, "x = torch.linalg.inv_ex(a)")
add("inv_ex-zero", "x[0], x[1]", [torch.zeros(3, 3)], TWO, "x = torch.linalg.inv_ex(a)")
add("inv_ex-check", "torch.linalg.inv_ex(a, check_errors=True)[0]", [torch.zeros(3, 3)])
for a, b in (((4, 4), (4, 3)), ((2, 4, 4), (4, 3)), ((4, 4), (2, 4, 3)), ((2, 4, 4), (2, 4)), ((4, 4), (4,)), ((2, 1, 4, 4), (3, 4, 2)),
             ((2, 0, 0), (2, 0, 3)), ((4, 4), (4, 0)), ((0, 4, 4), (0, 4, 2))):
    every(f"solve-{a}-{b}", "torch.linalg.solve(a, b)", ONE, s(*a), r(*b, seed=1), dtypes=FEW)
    tuples(f"_solve_ex-{a}-{b}", "torch._linalg_solve_ex(a, b)", 4, s(*a), r(*b, seed=1), dtypes=FEW)
every("solve-right", "torch.linalg.solve(a, b, left=False)", ONE, s(2, 4, 4), r(3, 4))
tuples("solve_ex-right", "torch.linalg.solve_ex(a, b, left=False)", 2, s(2, 4, 4), r(3, 4))
add("solve-fails", "torch.linalg.solve(a, b)", [torch.zeros(3, 3), random(3, 1)])
add("solve-fails-batch", "torch.linalg.solve(a, b)", [torch.stack([torch.eye(3), torch.zeros(3, 3)]), random(3, 1)])
add("solve-shapes", "torch.linalg.solve(a, b)", [square(3, 3), random(4, 1)])
add("solve-dtypes", "torch.linalg.solve(a, b.double())", [square(3, 3), random(3, 1)])
add("solve-vector-right", "torch.linalg.solve(a, b, left=False)", [square(3, 3), random(3)])
every("tensorinv", "torch.linalg.tensorinv(a)", ONE, lambda d: square(24, 24, dtype=d).reshape(4, 6, 8, 3))
every("tensorinv-1", "torch.linalg.tensorinv(a, ind=1)", ONE, lambda d: square(24, 24, dtype=d).reshape(24, 8, 3), dtypes=FEW)
add("tensorinv-0", "torch.linalg.tensorinv(a, ind=0)", [random(4, 4)])
add("tensorinv-sizes", "torch.linalg.tensorinv(a)", [random(4, 3, 4)])
every("tensorsolve", "torch.linalg.tensorsolve(a, b)", ONE, lambda d: square(6, 6, dtype=d).reshape(2, 3, 6), r(2, 3))
every("tensorsolve-dims", "torch.linalg.tensorsolve(a, b, dims=(0, 2))", ONE, lambda d: square(24, 24, dtype=d).reshape(6, 24, 4), r(24),
      dtypes=FEW)
add("tensorsolve-sizes", "torch.linalg.tensorsolve(a, b)", [random(4, 4), random(3)])

# ---- triangular matrices and systems
for upper in (True, False):
    for unit in (True, False):
        flags = f"upper={upper}, unitriangular={unit}"
        every(f"solve_triangular-{flags}", f"torch.linalg.solve_triangular(a, b, {flags})", ONE, s(2, 4, 4), r(4, 3), dtypes=FEW)
        every(f"solve_triangular-wide-{flags}", f"torch.linalg.solve_triangular(a, b, {flags})", ONE, s(2, 5, 5), r(2, 5, 11), dtypes=FEW)
        every(f"solve_triangular-right-{flags}", f"torch.linalg.solve_triangular(a, b, left=False, {flags})", ONE, s(4, 4), r(2, 3, 4),
              dtypes=FEW)
        for turned in (True, False):
            tuples(f"triangular_solve-{turned}-{flags}", f"torch.triangular_solve(b, a, transpose={turned}, {flags})", 2, s(2, 4, 4),
                   r(4, 3), dtypes=FEW)
add("solve_triangular-zero", "torch.linalg.solve_triangular(a, b, upper=True)", [torch.zeros(2, 2), torch.tensor([[1.], [0.]])])
add("solve_triangular-shapes", "torch.linalg.solve_triangular(a, b, upper=True)", [square(3, 3), random(4, 1)])
every("solve_triangular-empty", "torch.linalg.solve_triangular(a, b, upper=True)", ONE, r(2, 0, 0), r(2, 0, 3), dtypes=FEW)

# ---- Cholesky
for upper in (True, False):
    for sizes in ((4, 4), (2, 4, 4), (0, 3, 3), (2, 0, 0)):
        for name in ("cholesky", "linalg.cholesky"):
            every(f"{name}-{upper}-{sizes}", f"torch.{name}(a, upper={upper})", ONE, p(*sizes))
        tuples(f"cholesky_ex-{upper}-{sizes}", f"torch.linalg.cholesky_ex(a, upper={upper})", 2, p(*sizes), dtypes=FEW)
        every(f"cholesky_inverse-{upper}-{sizes}", f"torch.cholesky_inverse(x, upper={upper})", ONE, p(*sizes),
              before=f"x = torch.linalg.cholesky(a, upper={upper})")
    for a, b in (((4, 4), (4, 3)), ((2, 4, 4), (4, 3)), ((4, 4), (2, 4, 1))):
        every(f"cholesky_solve-{upper}-{a}-{b}", f"torch.cholesky_solve(b, a, upper={upper})", ONE, s(*a), r(*b, seed=1), dtypes=FEW)
add("cholesky-fails", "torch.linalg.cholesky(a)", [-torch.eye(3)])
add("cholesky-nan", "torch.linalg.cholesky(a)", [torch.full((3, 3), float("nan"))])
add("cholesky_ex-fails", "x[1]", [torch.stack([torch.eye(3), -torch.eye(3)])], ONE, "x = torch.linalg.cholesky_ex(a)")
add("cholesky_inverse-fails", "torch.cholesky_inverse(a)", [torch.zeros(3, 3)])
add("cholesky_solve-shapes", "torch.cholesky_solve(b, a)", [square(3, 3), random(4, 1)])

# ---- L D L'
for hermitian in (False, True):
    for sizes in ((5, 5), (2, 5, 5), (1, 1), (2, 0, 0), (0, 3, 3), (40, 40)):
        tuples(f"ldl_factor-{hermitian}-{sizes}", f"torch.linalg.ldl_factor(a, hermitian={hermitian})", 2, h(*sizes))
        tuples(f"ldl_factor_ex-{hermitian}-{sizes}", f"torch.linalg.ldl_factor_ex(a, hermitian={hermitian})", 3, h(*sizes), dtypes=FEW)
    every(f"ldl_solve-{hermitian}", f"torch.linalg.ldl_solve(x[0], x[1], b, hermitian={hermitian})", ONE, h(2, 5, 5), r(5, 3, seed=1),
          before=f"x = torch.linalg.ldl_factor(a, hermitian={hermitian})")
    every(f"ldl_solve-blocks-{hermitian}", f"torch.linalg.ldl_solve(x[0], x[1], b, hermitian={hermitian})", ONE,
          lambda d: torch.tensor([[0., 2, 1, 3], [2, 0, 4, 1], [1, 4, 0, 2], [3, 1, 2, 0]]).to(d), r(4, 2, seed=1),
          before=f"x = torch.linalg.ldl_factor(a, hermitian={hermitian})")
add("ldl_factor-fails", "torch.linalg.ldl_factor(a)[0]", [torch.zeros(3, 3)])
add("ldl_factor_ex-zero", "x[0], x[1], x[2]", [torch.zeros(3, 3)], THREE, "x = torch.linalg.ldl_factor_ex(a)")

# ---- QR
for sizes in ((4, 4), (2, 5, 3), (2, 3, 5), (3, 0), (0, 3), (0, 4, 3), (1, 1), (50, 40)):
    for mode in ("reduced", "complete", "r"):
        tuples(f"qr-{sizes}-{mode}", f"torch.linalg.qr(a, mode='{mode}')", 2, r(*sizes), dtypes=FEW if sizes != (2, 5, 3) else DTYPES)
    tuples(f"old-qr-{sizes}", "torch.qr(a, some=False)", 2, r(*sizes), dtypes=FEW)
    tuples(f"geqrf-{sizes}", "torch.geqrf(a)", 2, r(*sizes), dtypes=FEW if sizes != (2, 5, 3) else DTYPES)
add("qr-mode", "torch.linalg.qr(a, mode='x')[0]", [random(3, 3)])
tuples("qr-zero", "torch.linalg.qr(a * 0)", 2, r(3, 2))
for name in ("linalg.householder_product", "orgqr"):
    for a, b in (((5, 3), (3,)), ((2, 5, 3), (2, 2)), ((2, 5, 3), (2, 0)), ((2, 5, 0), (2, 0)), ((0, 5, 3), (0, 3))):
        every(f"{name}-{a}-{b}", f"torch.{name}(a, b)", ONE, r(*a), r(*b, seed=1), dtypes=FEW)
add("householder-wide", "torch.linalg.householder_product(a, b)", [random(3, 5), random(3)])
add("householder-tau", "torch.linalg.householder_product(a, b)", [random(5, 3), random(4)])
for left in (True, False):
    for turned in (True, False):
        every(f"ormqr-{left}-{turned}", f"torch.ormqr(a, b, c, left={left}, transpose={turned})", ONE, r(2, 5, 3), r(2, 3, seed=1),
              r(2, 5, 4, seed=2) if left else r(2, 4, 5, seed=2))
add("ormqr-sizes", "torch.ormqr(a, b, c)", [random(5, 3), random(3), random(4, 4)])

# ---- singular values
for sizes in ((4, 4), (2, 5, 3), (2, 3, 5), (3, 0), (0, 3), (0, 4, 3), (2, 3, 0)):
    for full in (True, False):
        tuples(f"svd-{sizes}-{full}", f"torch.linalg.svd(a, full_matrices={full})", 3, r(*sizes))
        tuples(f"old-svd-{sizes}-{full}", f"torch.svd(a, some={full})", 3, r(*sizes), dtypes=FEW)
    tuples(f"old-svd-values-{sizes}", "torch.svd(a, compute_uv=False)", 3, r(*sizes), dtypes=FEW)
    tuples(f"_svd-values-{sizes}", "torch._linalg_svd(a, compute_uv=False)", 3, r(*sizes), dtypes=FEW)
    every(f"svdvals-{sizes}", "torch.linalg.svdvals(a)", ONE, r(*sizes))
    every(f"pinv-{sizes}", "torch.linalg.pinv(a)", ONE, r(*sizes))
    every(f"pinverse-{sizes}", "torch.pinverse(a)", ONE, r(*sizes), dtypes=FEW)
    every(f"matrix_rank-{sizes}", "torch.linalg.matrix_rank(a)", ONE, r(*sizes))
add("svd-nan", "torch.linalg.svd(a)[1]", [torch.full((3, 3), float("nan"))])
add("svdvals-nan", "torch.linalg.svdvals(a)", [torch.full((2, 3, 3), float("nan"))])
add("svd-driver", "torch.linalg.svd(a, driver='gesvd')[1]", [random(3, 3)])
add("svd-half", "torch.linalg.svd(a)[1]", [random(3, 3).half()])
add("svd-vector", "torch.linalg.svd(a)[1]", [random(3)])
RANK_2 = random(5, 2) @ random(2, 4, seed=1)
for arguments in ("tol=1.0", "atol=0.5", "rtol=0.1", "atol=0.5, rtol=0.5"):
    add(f"matrix_rank-{arguments}", f"torch.linalg.matrix_rank(a, {arguments})", [random(2, 5, 4)])
for arguments in ("atol=0.5", "rtol=0.1", "atol=0.5, rtol=0.5"):
    add(f"pinv-{arguments}", f"torch.linalg.pinv(a, {arguments})", [random(2, 5, 4)])
for arguments in ("atol=b", "rtol=b", "atol=b, rtol=b"):
    for shape in ((), (2,), (3, 1)):
        add(f"matrix_rank-{arguments}-{shape}", f"torch.linalg.matrix_rank(a, {arguments})", [random(2, 5, 4), torch.rand(shape)])
        add(f"pinv-{arguments}-{shape}", f"torch.linalg.pinv(a, {arguments})", [random(2, 5, 4), torch.rand(shape)])
add("matrix_rank-tol", "torch.linalg.matrix_rank(a, b)", [random(2, 5, 4), torch.tensor([1.0, 2.0])])
add("matrix_rank-2", "torch.linalg.matrix_rank(a)", [RANK_2])
add("pinv-rcond", "torch.linalg.pinv(a, 0.3)", [random(2, 5, 4)])
add("pinv-rcond-tensor", "torch.linalg.pinv(a, b)", [random(2, 5, 4), torch.tensor([0.3, 0.1])])
add("pinv-rank-2", "torch.linalg.pinv(a)", [RANK_2])
for name in ("matrix_rank", "pinv"):
    every(f"{name}-hermitian", f"torch.linalg.{name}(a, hermitian=True)", ONE, h(2, 4, 4))
add("pinv-hermitian-shape", "torch.linalg.pinv(a, hermitian=True)", [random(3, 4)])

# ---- eigenvalues
for sizes in ((4, 4), (2, 5, 5), (1, 1), (2, 0, 0), (0, 3, 3), (60, 60)):
    for triangle in "LU":
        tuples(f"eigh-{sizes}-{triangle}", f"torch.linalg.eigh(a, UPLO='{triangle}')", 2, h(*sizes), dtypes=FEW if sizes[-1] > 5 else DTYPES)
        every(f"eigvalsh-{sizes}-{triangle}", f"torch.linalg.eigvalsh(a, UPLO='{triangle}')", ONE, r(*sizes), dtypes=FEW)
        tuples(f"symeig-{sizes}-{triangle}", f"torch.symeig(a, eigenvectors=True, upper={triangle == 'U'})", 2, h(*sizes),
               dtypes=FEW if sizes[-1] > 5 else DTYPES)
    tuples(f"symeig-values-{sizes}", "torch.symeig(a)", 2, h(*sizes), dtypes=FEW)
    tuples(f"_eigh-values-{sizes}", "torch._linalg_eigh(a, compute_v=False)", 2, h(*sizes), dtypes=FEW)
    tuples(f"eig-{sizes}", "torch.linalg.eig(a)", 2, r(*sizes))
    every(f"eigvals-{sizes}", "torch.linalg.eigvals(a)", ONE, r(*sizes))
for name in ("eigh", "eig", "eigvals", "eigvalsh"):
    add(f"{name}-nan", f"torch.linalg.{name}(a)" + ("" if "vals" in name else "[0]"), [torch.full((3, 3), float("nan"))])
    add(f"{name}-not-square", f"torch.linalg.{name}(a)" + ("" if "vals" in name else "[0]"), [random(3, 4)])
add("eigh-triangle", "torch.linalg.eigh(a, UPLO='x')[0]", [symmetric(3, 3)])

# ---- least squares
for driver in ("gels", "gelsy", "gelsd", "gelss"):
    for a, b in (((5, 3), (5, 2)), ((3, 5), (3, 2)), ((2, 5, 3), (2, 5, 4)), ((2, 3, 5), (2, 3, 4)), ((5, 3), (5,)), ((2, 5, 3), (2, 5)),
                 ((2, 4, 4), (2, 4, 1)), ((2, 5, 3), (1, 5, 2))):
        tuples(f"lstsq-{driver}-{a}-{b}", f"torch.linalg.lstsq(a, b, driver='{driver}')", 4, r(*a), r(*b, seed=1),
               dtypes=DTYPES if a == (5, 3) else FEW)
    if driver != "gelsy":  # skipped for gelsy, whose columns PyTorch returns in any order
        add(f"lstsq-{driver}-rcond", "x[0], x[1], x[2], x[3]", [random(5, 3), random(5, 2, seed=1)], FOUR,
            f"x = torch.linalg.lstsq(a, b, rcond=0.5, driver='{driver}')")
    if driver != "gels":
        add(f"lstsq-{driver}-rank-2", "x[0], x[1], x[2], x[3]", [RANK_2, random(5, 2, seed=1)], FOUR,
            f"x = torch.linalg.lstsq(a, b, driver='{driver}')")
for a, b in (((0, 3), (0, 2)), ((3, 0), (3, 2)), ((5, 3), (5, 0)), ((0, 5, 3), (0, 5, 2))):
    tuples(f"lstsq-{a}-{b}", "torch.linalg.lstsq(a, b)", 4, r(*a), r(*b), dtypes=FEW)
add("lstsq-sizes", "torch.linalg.lstsq(a, b)[0]", [random(5, 3), random(4, 1)])
add("lstsq-dims", "torch.linalg.lstsq(a, b)[0]", [random(5, 3), random(2, 5, 1)])
add("lstsq-driver", "torch.linalg.lstsq(a, b, driver='x')[0]", [random(5, 3), random(5, 1)])
add("lstsq-nan", "x[0], x[2]", [random(5, 3), torch.full((5, 1), float("nan"))], TWO, "x = torch.linalg.lstsq(a, b)")
add("lstsq-nan-matrix", "torch.linalg.lstsq(a, b, driver='gelsd')[0]", [torch.full((5, 3), float("nan")), random(5, 1)])

# ---- norms
ORDERS = ("'fro'", "'nuc'", "1", "-1", "2", "-2", "float('inf')", "-float('inf')")
for order in ORDERS:
    for dim, keep in (("(-2, -1)", False), ("(0, 2)", False), ("(2, 0)", True)):
        for name in ("matrix_norm", "norm"):
            every(f"{name}-{order}-{dim}-{keep}", f"torch.linalg.{name}(a, {order}, dim={dim}, keepdim={keep})", ONE, r(2, 3, 4),
                  dtypes=FEW)
    every(f"norm-matrix-{order}", f"torch.linalg.norm(a, {order})", ONE, r(3, 4))
    every(f"matrix_norm-dtype-{order}", f"torch.linalg.matrix_norm(a, {order}, dtype=torch.float64)", ONE, r(3, 4),
          dtypes=(torch.float32,))
    for sizes in ((2, 0, 3), (2, 3, 0), (0, 3, 3)):
        add(f"matrix_norm-empty-{sizes}-{order}", f"torch.linalg.matrix_norm(a, {order})", [random(*sizes)])
    every(f"cond-{order}", f"torch.linalg.cond(a, {order})", ONE, s(2, 4, 4))
    add(f"cond-singular-{order}", f"torch.linalg.cond(a, {order})", [torch.zeros(3, 3)])
    add(f"cond-wide-{order}", f"torch.linalg.cond(a, {order})", [random(3, 4)])
    add(f"cond-empty-{order}", f"torch.linalg.cond(a, {order})", [random(2, 0, 3)])
for order in ("1", "'fro'", "float('inf')"):
    add(f"matrix_norm-half-{order}", f"torch.linalg.matrix_norm(a, {order})", [random(3, 4).half()])
add("matrix_norm-half-2", "torch.linalg.matrix_norm(a, 2)", [random(3, 4).half()])
add("matrix_norm-nan", "torch.linalg.matrix_norm(a, 1)", [torch.tensor([[1., float("nan")], [2., 3.]])])
add("matrix_norm-narrow", "torch.linalg.matrix_norm(a, 1, dtype=torch.float16)", [random(3, 4)])
add("matrix_norm-complex", "torch.linalg.matrix_norm(a, 1, dtype=torch.complex64)", [random(3, 4)])
add("matrix_norm-order", "torch.linalg.matrix_norm(a, 3)", [random(3, 4)])
add("matrix_norm-dims", "torch.linalg.matrix_norm(a, 1, dim=(0, 0))", [random(3, 4)])
add("matrix_norm-integer", "torch.linalg.matrix_norm(a, 1)", [torch.eye(3).long()])
for order in ("0", "1", "2", "3", "float('inf')", "-1.5"):
    every(f"norm-vector-{order}", f"torch.linalg.norm(a, {order})", ONE, r(5), dtypes=FEW)
    every(f"norm-dim-{order}", f"torch.linalg.norm(a, {order}, dim=1, keepdim=True)", ONE, r(2, 3, 4), dtypes=FEW)
every("norm-none", "torch.linalg.norm(a)", ONE, r(2, 3, 4))
every("norm-none-dims", "torch.linalg.norm(a, dim=(0, 1))", ONE, r(2, 3, 4))
add("norm-3d", "torch.linalg.norm(a, 2)", [random(2, 3, 4)])
add("norm-three-dims", "torch.linalg.norm(a, 2, dim=(0, 1, 2))", [random(2, 3, 4)])
add("norm-integer", "torch.linalg.norm(a)", [torch.ones(3).long()])
every("cond-none", "torch.linalg.cond(a)", ONE, r(2, 3, 4))
add("nuclear", "torch.norm(a, 'nuc'), torch.norm(a, 'nuc', [1, 0])", [random(3, 4, dtype=torch.complex64)], TWO)

# ---- cross, vecdot, exponentials, powers
every("cross", "torch.cross(a, b)", ONE, r(4, 3), r(4, 3, seed=1))
every("cross-dim", "torch.cross(a, b, dim=0)", ONE, r(3, 3), r(3, 3, seed=1))
every("linalg-cross", "torch.linalg.cross(a, b)", ONE, r(3, 1, 3), r(1, 2, 3, seed=1))
every("linalg-cross-dim", "torch.linalg.cross(a, b, dim=1)", ONE, r(2, 3, 4), r(2, 3, 4, seed=1))
add("cross-int", "torch.cross(a, b)", [torch.tensor([[1, 2, 3]]), torch.tensor([[4, -5, 6]])])
add("cross-uint8", "torch.cross(a, b)", [torch.tensor([[1, 2, 3]]).byte(), torch.tensor([[4, 200, 6]]).byte()])
add("cross-none", "torch.cross(a, b)", [random(2, 2), random(2, 2)])
add("cross-size", "torch.linalg.cross(a, b)", [random(3, 2), random(3, 2)])
add("cross-dtypes", "torch.linalg.cross(a, b.double())", [random(2, 3), random(2, 3)])
add("cross-ranks", "torch.linalg.cross(a, b)", [random(2, 3), random(1, 2, 3)])
add("cross-half", "torch.linalg.cross(a, b)", [random(2, 3).half(), random(2, 3).half()])
every("vecdot", "torch.linalg.vecdot(a, b)", ONE, r(2, 3, 4), r(3, 4, seed=1))
every("vecdot-dim", "torch.linalg.vecdot(a, b, dim=0)", ONE, r(2, 3, 4), r(2, 3, 4, seed=1))
# Debian's PyTorch gives 0 for complex vectors.
every("vecdot-1", "torch.linalg.vecdot(a, b)", ONE, r(4), r(4, seed=1), dtypes=(torch.float32, torch.float64))
every("vecdot-empty", "torch.linalg.vecdot(a, b)", ONE, r(2, 0), r(2, 0))
add("vecdot-integer", "torch.linalg.vecdot(a, b)", [torch.ones(3).long(), torch.ones(3).long()])
add("vecdot-sizes", "torch.linalg.vecdot(a, b)", [random(3), random(1)])
for scale in (0.0, 1e-5, 0.3, 1.0, 20.0):
    every(f"matrix_exp-{scale}", f"torch.matrix_exp(a * {scale})", ONE, r(3, 3), dtypes=FEW)
    every(f"matrix_exp-batch-{scale}", f"torch.linalg.matrix_exp(a * {scale})", ONE, r(2, 3, 3))
    every(f"matrix_exp-turned-{scale}", f"torch.matrix_exp(a.transpose(-1, -2) * {scale})", ONE, r(2, 3, 3), dtypes=FEW)
for sizes in ((0, 0), (2, 0, 0), (0, 3, 3), (1, 1)):
    every(f"matrix_exp-{sizes}", "torch.matrix_exp(a)", ONE, r(*sizes), dtypes=FEW)
add("matrix_exp-not-square", "torch.matrix_exp(a)", [random(3, 4)])
for n in (-3, -1, 0, 1, 2, 5):
    every(f"matrix_power-{n}", f"torch.matrix_power(a, {n})", ONE, s(2, 3, 3))
every("matrix_power-empty", "torch.matrix_power(a, -1)", ONE, r(2, 0, 0))
for n in (2, 3, 5):
    every(f"vander-{n}", f"torch.linalg.vander(a, N={n})", ONE, lambda d: torch.tensor(1.5).to(d))
add("vander-number", "torch.linalg.vander(a)", [torch.tensor(1.5)])
add("vander-empty", "torch.linalg.vander(a)", [random(2, 0)])
add("chain_matmul", "torch.chain_matmul(a, b, c)", [random(3, 4), random(4, 2, seed=1), random(2, 5, seed=2)])

# ---- .out tensors: with other sizes than the result, with the result's sizes, and the argument itself
OUT = {"inverse": "torch.inverse(a, out=o)", "cholesky": "torch.linalg.cholesky(a, out=o)", "pinv": "torch.linalg.pinv(a, out=o)",
       "matrix_power": "torch.linalg.matrix_power(a, 3, out=o)", "solve": "torch.linalg.solve(a, a, out=o)",
       "cholesky_inverse": "torch.cholesky_inverse(a, out=o)", "matrix_norm": "torch.linalg.matrix_norm(a, 1, out=o)",
       "householder": "torch.linalg.householder_product(a, a[0], out=o)",
       "triangular": "torch.linalg.solve_triangular(a, a, upper=True, out=o)"}
for name, call in OUT.items():
    for which, start in (("fresh", "torch.empty([0])"), ("same", "torch.zeros([4, 4])" if name != "matrix_norm" else "torch.zeros([])"),
                         ("self", "a")):
        if name in ("matrix_norm", "matrix_power", "triangular") and which == "self":  # skipped, because PyTorch overwrites an operand that it still reads
            continue
        add(f"out-{name}-{which}", "o", [positive(4, 4)], ONE, f"o = {start}\n{call}")
add("out-svd", "u, s, v", [random(4, 3)], THREE, "u = torch.empty([0])\ns = torch.empty([0])\nv = torch.zeros([3, 3])\n"
    "torch.linalg.svd(a, U=u, S=s, Vh=v)")
add("out-qr", "q, r", [random(4, 3)], TWO, "q = torch.empty([0])\nr = torch.zeros([3, 3])\ntorch.linalg.qr(a, Q=q, R=r)")
add("out-lu", "x, y, z", [random(4, 3)], THREE, "x = torch.empty([0])\ny = torch.zeros([4, 3])\nz = torch.empty([0])\n"
    "torch.linalg.lu(a, P=x, L=y, U=z)")
add("out-eigh", "x, y", [symmetric(4, 4)], TWO, "x = torch.empty([0])\ny = torch.zeros([4, 4])\ntorch.linalg.eigh(a, eigvals=x, eigvecs=y)")
add("out-dtype", "o", [positive(4, 4)], ONE, "o = torch.empty([0], dtype=torch.int64)\ntorch.linalg.inv(a, out=o)")
add("out-lstsq", "x, y", [random(5, 3), random(5, 2)], TWO, "x = torch.empty([0])\ny = torch.empty([0])\n"
    "z = torch.empty([0], dtype=torch.int64)\nw = torch.empty([0])\ntorch.linalg.lstsq(a, b, solution=x, residuals=y, rank=z, singular_values=w)")
