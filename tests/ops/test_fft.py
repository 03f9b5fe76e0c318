# SPDX-License-Identifier: BSD-2-Clause
"""Cases of Fourier transforms, windows and their uses in audio models, for the op-module runner; see test_elementwise.py."""
import itertools

import torch

SUMS = True
CASES = []


def case(name, source, builder, **options):
    CASES.append((name, source if "\n" in source else "def f(%s):\n    return %s\n" % tuple(source.split(" : ")), builder, options))


SINGLE = {"rtol": 1e-5, "atol": 1e-6}  # tolerance for results that PyTorch computes in float32 for any dtype


def numbers(*shape, dtype=torch.float32, seed=1):
    def make():
        torch.manual_seed(seed)
        if dtype in (torch.bool, torch.int64, torch.int32, torch.uint8):
            return torch.randint(0, 2 if dtype == torch.bool else 9, shape).to(dtype)
        return torch.randn(shape, dtype=dtype)
    return make


def args(*makers):
    return lambda: tuple(m() for m in makers)


def ends(*lists):
    """Yields combinations of one choice from each list: every choice of each list with the first choices of the other lists, and at the end all
    last choices."""
    for i, own in enumerate(lists):
        for choice in own if i == 0 else own[1:]:
            yield tuple(choice if j == i else other[0] for j, other in enumerate(lists))
    yield tuple(own[-1] for own in lists)


REALS = (torch.float32, torch.float64)
COMPLEX = (torch.complex64, torch.complex128)
NORMS = ('None', '"backward"', '"ortho"', '"forward"')


def label(dtype):
    return str(dtype)[6:]


# ---- lengths: every factor, primes that need another algorithm, powers, real and complex, with lines at any distance

LENGTHS = list(range(1, 41)) + [48, 49, 59, 61, 64, 67, 71, 81, 97, 100, 121, 125, 127, 128, 134, 143, 169, 201, 243, 256, 257, 360, 400,
                                480, 509, 512, 625, 719, 1000, 1021, 1024, 1920, 2018, 2048, 2187, 4093, 4096, 9600, 10007]
for n in LENGTHS:
    for real, pairs in zip(REALS, COMPLEX) if n < 130 or n % 2 == 1 else ((torch.float32, torch.complex64),):
        lines = 3 if n < 3000 else 1
        case("length/%d/%s" % (n, label(real)),
             "x, z : [torch.fft.fft(x), torch.fft.rfft(x), torch.fft.ihfft(x), torch.fft.fft(z), torch.fft.ifft(z), torch.fft.irfft(z, %d), "
             "torch.fft.hfft(z, %d)]" % (n, n), args(numbers(lines, n, dtype=real), numbers(lines, n, dtype=pairs)))
# Groups of eight lines and the remaining lines, one after the other and side by side. If lines are long and few, eight parts of one line
# are transformed together.
for real, pairs in zip(REALS, COMPLEX):
    for lines, n in ((8, 21), (17, 21), (8, 67), (19, 67), (16, 48), (9, 509), (8, 1)):
        case("groups/%dx%d/%s" % (lines, n, label(real)),
             "x, z : [torch.fft.rfft(x, norm='ortho'), torch.fft.ihfft(x), torch.fft.fft(x), torch.fft.fft(z), torch.fft.ifft(z), torch.fft.irfft(z, %d), torch.fft.hfft(z, %d), "
             "torch.fft.rfft(x.t().contiguous(), dim=0), torch.fft.ihfft(x.t().contiguous(), dim=0), torch.fft.fft(z.t().contiguous(), dim=0), torch.fft.ifft(z.t().contiguous(), dim=0, norm='ortho'), "
             "torch.fft.irfft(z.t().contiguous(), %d, dim=0)]" % (n, n, n), args(numbers(lines, n, dtype=real), numbers(lines, n, dtype=pairs)))
    case("groups/frames/%s" % label(real), "x, w : [torch.view_as_real(torch.stft(x, 67, 10, 67, w, return_complex=True)), torch.view_as_real(torch.stft(x, 67, 9, 67, w, onesided=False, return_complex=True))]",
         args(numbers(2, 260, dtype=real), numbers(67, dtype=real)))
    for lines in (1, 3, 5):
        case("groups/long/%d/%s" % (lines, label(real)),
             "x, z : [torch.fft.rfft(x), torch.fft.fft(z), torch.fft.fft(z, norm='ortho'), torch.fft.ifft(z), torch.fft.irfft(z, 2048), torch.fft.fft(z.t().contiguous(), dim=0)]",
             args(numbers(lines, 2048, dtype=real), numbers(lines, 1024, dtype=pairs)))
for shape, dim in itertools.product(((2, 3, 20), (19, 2, 9), (1, 70), (70, 1), (5, 4, 3, 2)), (0, 1, -1)):
    case("dim/%s/%d" % (shape, dim),
         "x, z : [torch.fft.fft(x, dim=%d), torch.fft.rfft(x, dim=%d), torch.fft.ifft(z, dim=%d), torch.fft.irfft(z, 5, dim=%d)]" % ((dim,) * 4),
         args(numbers(*shape), numbers(*shape, dtype=torch.complex64)))

# ---- arguments of the operators with one dimension

for op in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    real = op in ("rfft", "ihfft")
    dtypes = REALS + (torch.int64, torch.uint8, torch.bool, torch.float16, torch.bfloat16) + COMPLEX
    for dtype in dtypes:
        case("%s/%s" % (op, label(dtype)), "x : torch.fft.%s(x)" % op, args(numbers(3, 10, dtype=dtype)))
    for n, dim, norm in ends(("None", "1", "7", "10", "13", "0", "-1", "-3"), ("-1", "0", "1", "2", "-3", "3", "-4"), NORMS + ('"other"',)):
        case("%s/%s/%s/%s" % (op, n, dim, norm), "x : torch.fft.%s(x, %s, %s, %s)" % (op, n, dim, norm),
             args(numbers(3, 10, 4, dtype=torch.float32 if real else torch.complex64)))
    for norm in NORMS:
        case("%s/odd/%s" % (op, norm), "x : torch.fft.%s(x, 9, norm=%s)" % (op, norm),
             args(numbers(3, 10, dtype=torch.float32 if real else torch.complex64)))
    case(op + "/scalar", "x : torch.fft.%s(x)" % op, args(numbers()))
    case(op + "/empty", "x : torch.fft.%s(x)" % op, args(numbers(2, 0)))
    case(op + "/empty grown", "x : torch.fft.%s(x, 4)" % op, args(numbers(2, 0)))
    case(op + "/no lines", "x : torch.fft.%s(x)" % op, args(numbers(0, 3)))
    case(op + "/one", "x : torch.fft.%s(x)" % op, args(numbers(2, 1)))
    case(op + "/transposed", "x : torch.fft.%s(x.transpose(0, 2), dim=1)" % op, args(numbers(3, 4, 5)))
    case(op + "/expanded", "x : torch.fft.%s(x.expand(4, 6), 5)" % op, args(numbers(1, 6)))
    case(op + "/slice", "x : torch.fft.%s(x[1:, ::2])" % op, args(numbers(3, 11)))
    case(op + "/channels last", "x : torch.fft.%s(x, dim=1)" % op,
         lambda: (numbers(2, 4, 5, 6)().contiguous(memory_format=torch.channels_last),))
    for out in ("float32", "float64", "complex64", "complex128"):
        case("%s/out/%s" % (op, out), "def f(x):\n    y = torch.empty([0], dtype=torch.%s)\n    torch.fft.%s(x, out=y)\n    return y\n" % (out, op),
             args(numbers(3, 10)), **SINGLE)
    case(op + "/out strided", "def f(x):\n    y = torch.zeros([12, 3], dtype=torch.%s).t()\n    torch.fft.%s(x, %d, out=y)\n    return y\n" % (
        "float32" if op in ("irfft", "hfft") else "complex64", op, 22 if op in ("rfft", "ihfft") else 12), args(numbers(3, 10)))
    case(op + "/in a row", "x : torch.fft.%s(x.cos())[..., 1:3]" % op, args(numbers(3, 10)))

# ---- several dimensions

for op in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    real = op in ("rfft", "ihfft")
    kinds = REALS + (torch.int64, torch.bool, torch.float16) + COMPLEX
    for dtype in kinds:
        case("%sn/%s" % (op, label(dtype)), "x : torch.fft.%sn(x)" % op, args(numbers(3, 4, 5, dtype=dtype)))
        case("%s2/%s" % (op, label(dtype)), "x : torch.fft.%s2(x)" % op, args(numbers(3, 4, 5, dtype=dtype)))
    default = numbers(3, 4, 5, 6, dtype=torch.float32 if real else torch.complex64)
    for s, dim, norm in itertools.product(("None", "[4]", "[5, 3]", "[-1, 7]", "[7, -1]", "[0, 2]", "[2, 2, 2, 2]", "[2, 2, 2, 2, 2]", "[-2, 3]"),
                                          ("None", "[0, 2]", "[-1, 1]", "[1, 1]", "[0, -4]", "[9]", "[3]"), NORMS):
        if norm == "None" or (s in ("None", "[5, 3]") and dim in ("None", "[0, 2]")):
            case("%sn/%s/%s/%s" % (op, s, dim, norm), "x : torch.fft.%sn(x, %s, %s, %s)" % (op, s, dim, norm), args(default))
    for s, dim, norm in ends(("None", "[4]", "[5, 3]"), ("[-2, -1]", "[0, 2]", "[-1, 1]", "[2]", "[0, 1, 2]"), NORMS):
        case("%s2/%s/%s/%s" % (op, s, dim, norm), "x : torch.fft.%s2(x, %s, %s, %s)" % (op, s, dim, norm), args(default))
    if op not in ("fft", "ifft"):  # skipped for fft and ifft, because PyTorch's result is not initialized
        case(op + "n/no dims", "def f(x):\n    d: List[int] = []\n    return torch.fft.%sn(x, dim=d)\n" % op, args(default))
    case(op + "n/scalar", "x : torch.fft.%sn(x)" % op, args(numbers()))
    case(op + "n/empty", "x : torch.fft.%sn(x)" % op, args(numbers(2, 0, 3)))
    case(op + "n/no lines", "x : torch.fft.%sn(x, dim=[0, 2])" % op, args(numbers(2, 0, 3)))
    case(op + "2/vector", "x : torch.fft.%s2(x)" % op, args(numbers(5)))
    case(op + "n/permuted", "x : torch.fft.%sn(x.permute(2, 0, 1), dim=[0, 1])" % op, args(numbers(3, 4, 5)))
    for out in ("float32", "complex128"):
        for form in ("2", "n"):
            case("%s%s/out/%s" % (op, form, out),
                 "def f(x):\n    y = torch.empty([0], dtype=torch.%s)\n    torch.fft.%s%s(x, out=y)\n    return y\n" % (out, op, form),
                 args(numbers(3, 10)), **SINGLE)
case("fftn/large", "x : torch.fft.fftn(x)", args(numbers(60, 34, 67, dtype=torch.complex64)), length=60 * 34 * 67)
case("rfft2/large", "x : torch.fft.irfft2(torch.fft.rfft2(x), [120, 90])", args(numbers(2, 120, 90)))

# ---- the inner operators _fft_…

for dims in ("[0]", "[2, 0]", "[0, 1, 2]", "[1, 1]", "[7]", "[-1]"):
    for mode in (0, 1, 2, 3):
        case("_fft_c2c/%s/%d" % (dims, mode), "x : [torch._fft_c2c(x, %s, %d, True), torch._fft_c2c(x, %s, %d, False)]" % ((dims, mode) * 2),
             args(numbers(3, 4, 5, dtype=torch.complex64)))
        if dims != "[-1]":
            case("_fft_r2c/%s/%d" % (dims, mode), "x : [torch._fft_r2c(x, %s, %d, True), torch._fft_r2c(x, %s, %d, False)]" % ((dims, mode) * 2),
                 args(numbers(3, 4, 5)))
            case("_fft_c2r/%s/%d" % (dims, mode), "x : [torch._fft_c2r(x, %s, %d, 4), torch._fft_c2r(x, %s, %d, 3)]" % ((dims, mode) * 2),
                 args(numbers(3, 4, 5, dtype=torch.complex128)))
for op, rest in (("_fft_c2c", "True"), ("_fft_r2c", "True"), ("_fft_c2r", "3")):
    for dtype in REALS + COMPLEX + (torch.float16, torch.int64):
        case("%s/%s" % (op, label(dtype)), "x : torch.%s(x, [0], 0, %s)" % (op, rest), args(numbers(3, 4, dtype=dtype)))
    if op != "_fft_c2c":
        case(op + "/no dims", "def f(x):\n    d: List[int] = []\n    return torch.%s(x.t(), d, 0, %s)\n" % (op, rest),
             args(numbers(3, 4, dtype=torch.complex64 if "_c2" in op else torch.float32)))
    case(op + "/out", "def f(x):\n    y = torch.empty([0], dtype=torch.%s)\n    torch.%s(x, [0], 1, %s, out=y)\n    return y\n" % (
        "float32" if "2r" in op else "complex64", op, rest), args(numbers(3, 4, dtype=torch.complex64 if "_c2" in op else torch.float32)))

# ---- shifts

for op in ("fftshift", "ifftshift"):
    for dim in ("", ", 0", ", -1", ", [0, 2]", ", [1, 1]", ", [3]"):
        for shape in ((4, 5, 6), (3, 1, 2), (2, 0, 3)):
            case("%s/%s/%s" % (op, dim, shape), "x : torch.fft.%s(x%s)" % (op, dim), args(numbers(*shape)))
    for dtype in (torch.int64, torch.bool, torch.complex64, torch.float16):
        case("%s/%s" % (op, label(dtype)), "x : torch.fft.%s(x)" % op, args(numbers(5, dtype=dtype)))
    case(op + "/scalar", "x : torch.fft.%s(x)" % op, args(numbers()))
    case(op + "/permuted", "x : torch.fft.%s(x.permute(2, 0, 1), [1])" % op, args(numbers(3, 4, 5)))
    case(op + "/channels last", "x : torch.fft.%s(x, [2, 3])" % op,
         lambda: (numbers(2, 4, 5, 6)().contiguous(memory_format=torch.channels_last),))

# ---- stft

STFT = "def f(x, w: Optional[Tensor]):\n    return torch.stft(x, %s, window=w)\n"
for n_fft, hop, length in ((16, 4, None), (16, 5, 10), (15, 4, 7), (32, 32, 32), (7, 1, 7), (2, 1, 2), (1, 1, 1), (22, 3, 21), (134, 40, 100)):
    for window in (False, True):
        for extra in ("", ", normalized=True", ", onesided=False", ", onesided=True", ", center=False", ', pad_mode="constant"', ', pad_mode="replicate"',
                      ', pad_mode="circular"'):
            for complex_ in ("True", "False"):
                if complex_ == "True" or extra in ("", ", onesided=False"):
                    text = "%d, %d, %s, return_complex=%s%s" % (n_fft, hop, length, complex_, extra)
                    case("stft/%s/%s" % (text, window), STFT % text,
                         args(numbers(2, 200), numbers(length or n_fft, seed=2) if window else lambda: None))
for dtype, window in itertools.product(REALS + COMPLEX + (torch.int64,), REALS + COMPLEX + (torch.int64, None)):
    for extra in ("", ", onesided=False", ", onesided=True", ", return_complex=False"):
        case("stft/%s/%s/%s" % (label(dtype), window, extra),
             STFT % ("8, 3, 6" + (", return_complex=True" if "return" not in extra else "") + extra),
             args(numbers(30, dtype=dtype), numbers(6, dtype=window, seed=3) if window else lambda: None))
for text, shape in (("0", (20,)), ("-2", (20,)), ("21", (20,)), ("8, 0", (20,)), ("8, -1", (20,)), ("8, 2, 9", (20,)), ("8, 2, 0", (20,)),
                    ("8, center=False", (7,)), ("8, 100", (20,)), ("8", (1, 20)), ("8", (1, 1, 20)), ("8", ()), ("8", (0, 20)), ("8", (4,)), ("8", (5,)),
                    ('8, pad_mode="other"', (20,)), ("8, 9223372036854775807", (20,)), ("9223372036854775807", (20,)), ("8", (2, 0)),
                    ('8, pad_mode="circular"', (4,)), ('8, pad_mode="circular"', (3,)), ('8, pad_mode="constant"', (0,)), ('8, pad_mode="replicate"', (0,))):
    case("stft/%s/%s" % (text, shape), "x : torch.stft(x, %s, return_complex=True)" % text, args(numbers(*shape)))
case("stft/wrong window", "x, w : torch.stft(x, 8, window=w, return_complex=True)", args(numbers(20), numbers(7)))
case("stft/strided", "x, w : torch.stft(x.t()[:, ::2], 8, 3, window=w[::2], return_complex=True)", args(numbers(80, 3), numbers(16)))
case("stft/plain", "x : torch._VF.stft(x, 8, None, None, None, False, None, True)", args(numbers(3, 80)))
case("stft/speech", "x : torch.stft(x, 512, 160, 400, torch.hann_window(400), return_complex=True).abs()", args(numbers(16000)))

# ---- istft

for n_fft, hop, length in ((16, 4, "None"), (16, 5, "10"), (15, 4, "9"), (22, 3, "21"), (134, 40, "100")):
    bins = n_fft // 2 + 1
    for extra in ("", ", normalized=True", ", center=False", ", length=50", ", length=500", ", length=0", ", length=-1", ", onesided=True", ", onesided=False"):
        text = "%d, %d, %s%s" % (n_fft, hop, length, extra)
        window = numbers(n_fft if length == "None" else int(length), seed=4)
        positive = lambda w=window: w().abs() + 0.1
        case("istft/%s" % text, "z, w : torch.istft(z, %s, window=w)" % text, args(numbers(2, bins, 12, dtype=torch.complex64), positive))
        case("istft/no window/%s" % text, "z : torch.istft(z, %s)" % text, args(numbers(bins, 12, dtype=torch.complex64)))
for dtype, window in itertools.product(COMPLEX, REALS + COMPLEX + (torch.int64,)):
    for extra, bins in (("", 5), (", return_complex=True", 5), (", return_complex=True", 8), (", onesided=False", 8)):
        case("istft/%s/%s/%s/%d" % (label(dtype), label(window), extra, bins), "z, w : torch.istft(z, 8, 3, 6, window=w%s)" % extra,
             args(numbers(2, bins, 7, dtype=dtype), lambda d=window: (torch.ones(6) * 2).to(d)), **(SINGLE if dtype == torch.complex64 else {}))
for text, shape in (("8", (5, 7, 2)), ("8", (3, 5, 7, 2)), ("8", (5, 7, 3)), ("8", (7, 2)), ("8", (2, 3, 5, 7, 2)), ("8", (5, 0, 2)), ("8", (6, 7, 2)),
                    ("8, 9", (5, 7, 2)), ("8, 0", (5, 7, 2)), ("8, 2, 9", (5, 7, 2)), ("1, 1", (1, 7, 2)), ("2, 1", (2, 7, 2))):
    case("istft/real/%s/%s" % (text, shape), "x : torch.istft(x, %s)" % text, args(numbers(*shape)))
case("istft/zero window", "x, w : torch.istft(x, 8, window=w, center=False)", args(numbers(5, 7, 2), lambda: torch.hann_window(8)))
case("istft/strided", "x : torch.istft(x.permute(2, 0, 1)[:, ::2], 8, 3)", args(numbers(9, 12, 2, dtype=torch.complex64)))
case("istft/real strided", "x : torch.istft(x.permute(2, 0, 1, 3), 8, 3)", args(numbers(5, 12, 2, 2)))
case("istft/round trip", "x : torch.istft(torch.stft(x, 64, 16, window=torch.hann_window(64), return_complex=True), 64, 16, "
     "window=torch.hann_window(64), length=1000)", args(numbers(2, 1000)))

# ---- parts of audio models; the functions are written like torchaudio's, so that they can be scripted

wave = lambda n=3200, b=2: numbers(b, n)

for window in ("hann", "hamming", "blackman", "bartlett", "kaiser"):
    for rest in ("(11)", "(12, periodic=False)", "(1)", "(0)", "(2, True)"):
        case("window/%s%s" % (window, rest), "x : torch.%s_window%s * x" % (window, rest), lambda: (torch.ones(1),))
case("window/hamming/coefficients", "x : torch.hamming_window(9, False, 0.6, 0.4) + x", lambda: (torch.zeros(1),))
case("window/kaiser/beta", "x : torch.kaiser_window(9, False, 14.0) + x", lambda: (torch.zeros(1),))

case("complex/parts", "z : [z.abs(), z.angle(), z.real, z.imag, torch.view_as_real(z), z.conj().resolve_conj(), z.abs().pow(2.0), torch.is_complex(z)]",
     args(numbers(3, 5, dtype=torch.complex64)))
case("complex/polar", "a, b : [torch.polar(a, b), torch.complex(a, b), torch.view_as_complex(torch.stack([a, b], -1)), torch.exp(1j * b)]",
     args(numbers(3, 5), numbers(3, 5, seed=2)))
case("complex/arithmetic", "z, w : [z * w, z / w, z * 0.5, z + 1j, torch.sqrt(z), z.pow(2), (z * w.conj()).real, z.sum(0), z.mean(-1), torch.sgn(z)]",
     args(numbers(3, 5, dtype=torch.complex64), numbers(3, 5, dtype=torch.complex64, seed=2)))

MEL = """
def mel_bank(n_freqs: int, f_min: float, f_max: float, n_mels: int, rate: int):
    all_freqs = torch.linspace(0, rate // 2, n_freqs)
    m_min = 2595.0 * math.log10(1.0 + (f_min / 700.0))
    m_max = 2595.0 * math.log10(1.0 + (f_max / 700.0))
    m_pts = torch.linspace(m_min, m_max, n_mels + 2)
    f_pts = 700.0 * (10.0 ** (m_pts / 2595.0) - 1.0)
    f_diff = f_pts[1:] - f_pts[:-1]
    slopes = f_pts.unsqueeze(0) - all_freqs.unsqueeze(1)
    down = (-1.0 * slopes[:, :-2]) / f_diff[:-1]
    up = slopes[:, 2:] / f_diff[1:]
    return torch.max(torch.zeros(1), torch.min(down, up))

def to_db(x, multiplier: float, amin: float, db_multiplier: float, top_db: Optional[float]):
    x_db = multiplier * torch.log10(torch.clamp(x, min=amin))
    x_db -= multiplier * db_multiplier
    if top_db is not None:
        shape = x_db.size()
        packed = shape[-3] if x_db.dim() > 2 else 1
        x_db = x_db.reshape(-1, packed, shape[-2], shape[-1])
        x_db = torch.max(x_db, (x_db.amax(dim=(-3, -2, -1)) - top_db).view(-1, 1, 1, 1))
        x_db = x_db.reshape(shape)
    return x_db

def create_dct(n_mfcc: int, n_mels: int):
    n = torch.arange(float(n_mels))
    k = torch.arange(float(n_mfcc)).unsqueeze(1)
    dct = torch.cos(math.pi / float(n_mels) * (n + 0.5) * k)
    dct[0] *= 1.0 / math.sqrt(2.0)
    dct *= math.sqrt(2.0 / float(n_mels))
    return dct.t()

def spectrogram(x, n_fft: int, hop: int, power: Optional[float]):
    shape = x.size()
    spec = torch.stft(x.reshape(-1, shape[-1]), n_fft, hop, n_fft, torch.hann_window(n_fft), True, "reflect", False, True, return_complex=True)
    spec = spec.reshape(shape[:-1] + spec.shape[-2:])
    if power is not None:
        if power == 1.0:
            return spec.abs()
        return spec.abs().pow(power)
    return spec
"""


def script(name, text, builder, **options):
    """Adds a case that is a whole model. text: the body of def f, which may call the functions above."""
    CASES.append((name, MEL + text, builder, {"whole": True} | options))


script("audio/mel", """
def f(x):
    mel = torch.matmul(spectrogram(x, 400, 160, 2.0).transpose(-1, -2), mel_bank(201, 0.0, 8000.0, 40, 16000)).transpose(-1, -2)
    return mel, to_db(mel, 10.0, 1e-10, 0.0, 80.0), torch.log(mel + 1e-6)
""", args(wave()))
script("audio/mfcc", """
def f(x):
    mel = torch.matmul(spectrogram(x, 512, 128, 2.0).transpose(-1, -2), mel_bank(257, 20.0, 7600.0, 64, 16000)).transpose(-1, -2)
    mfcc = torch.matmul(to_db(mel, 10.0, 1e-10, 0.0, 80.0).transpose(-1, -2), create_dct(13, 64)).transpose(-1, -2)
    padded = F.pad(mfcc, [2, 2], mode="replicate")
    kernel = torch.arange(-2, 3, 1, dtype=mfcc.dtype).repeat(mfcc.size(1), 1, 1)
    return mfcc, F.conv1d(padded, kernel, groups=mfcc.size(1)) / 10.0
""", args(wave()))
script("audio/griffin_lim", """
def f(x):
    n_fft = 64
    window = torch.hann_window(n_fft)
    magnitude = spectrogram(x, n_fft, 16, 1.0)
    angles = torch.full(magnitude.size(), 1, dtype=torch.complex64)
    previous = torch.tensor(0.0, dtype=torch.complex64)
    for i in range(6):
        inverse = torch.istft(magnitude * angles, n_fft, 16, n_fft, window, length=x.size(-1))
        rebuilt = torch.stft(inverse, n_fft, 16, n_fft, window, True, "reflect", False, True, return_complex=True)
        angles = rebuilt
        angles = angles - previous.mul_(0.99 / 1.99)
        angles = angles.div(angles.abs().add(1e-16))
        previous = rebuilt
    return torch.istft(magnitude * angles, n_fft, 16, n_fft, window, length=x.size(-1))
""", args(wave(1000)), rtol=1e-3)
script("audio/griffin_lim, random start", """
def f(x):
    magnitude = spectrogram(x, 64, 16, 1.0)
    angles = torch.rand(magnitude.size(), dtype=torch.complex64)
    return torch.istft(magnitude * angles, 64, 16, 64, torch.hann_window(64))
""", args(wave(1000)))
script("audio/phase vocoder", """
def f(x):
    z = spectrogram(x, 64, 16, None)
    rate = 1.3
    steps = torch.arange(0, z.size(-1), rate)
    alphas = steps % 1.0
    phase_0 = z[..., :1].angle()
    advance = torch.linspace(0, math.pi * 16, 33)[..., None]
    z = F.pad(z, [0, 2])
    z_0 = z.index_select(-1, steps.long())
    z_1 = z.index_select(-1, (steps + 1).long())
    phase = z_1.angle() - z_0.angle() - advance
    phase = phase - 2 * math.pi * torch.round(phase / (2 * math.pi)) + advance
    phase = torch.cumsum(torch.cat([phase_0, phase[..., :-1]], dim=-1), -1)
    mag = alphas * z_1.abs() + (1 - alphas) * z_0.abs()
    return torch.polar(mag, phase)
""", args(wave(1000)), rtol=1e-3)
script("audio/resample", """
def f(x):
    orig, new = 3, 2
    base = min(orig, new) * 0.99
    width = int(math.ceil(6 * orig / base))
    idx = torch.arange(-width, width + orig, dtype=torch.float64)[None, None] / orig
    t = torch.arange(0, -new, -1, dtype=torch.float64)[:, None, None] / new + idx
    t *= base
    t = t.clamp_(-6, 6)
    window = torch.cos(t * math.pi / 6 / 2) ** 2
    t *= math.pi
    kernels = torch.where(t == 0, torch.tensor(1.0).to(t), t.sin() / t)
    kernels *= window * (base / orig)
    y = F.conv1d(F.pad(x, (width, width + orig))[:, None], kernels.to(torch.float32), stride=orig)
    y = y.transpose(1, 2).reshape(x.size(0), -1)
    return y[..., :int(math.ceil(new * x.size(-1) / orig))]
""", args(wave(500)))
script("audio/voice activity", """
def f(x):
    frames = x.unfold(-1, 160, 80)
    energy = torch.log(frames.pow(2).mean(-1) + 1e-9)
    floor = torch.quantile(energy, 0.2)
    active: List[Tuple[int, int]] = []
    start = -1
    hang = 0
    for i in range(energy.size(0)):
        if bool(energy[i] > floor + 0.1):
            if start < 0:
                start = i
            hang = 2
        elif start >= 0:
            hang -= 1
            if hang < 0:
                active.append((start, i))
                start = -1
    crossings = ((frames[:, 1:] * frames[:, :-1]) < 0).float().mean(-1)
    return active, energy, crossings
""", lambda: (numbers(4000)() * torch.sin(torch.arange(4000.0) / 300),))
script("audio/pre-emphasis, loudness, mu-law", """
def f(x):
    y = torch.cat([x[..., :1], x[..., 1:] - 0.97 * x[..., :-1]], dim=-1)
    y = y / y.abs().max(-1, keepdim=True)[0].clamp(min=1e-8)
    mu = torch.tensor(255.0)
    q = torch.sign(y) * torch.log1p(mu * torch.abs(y)) / torch.log1p(mu)
    codes = ((q + 1) / 2 * mu + 0.5).to(torch.int64)
    back = codes / mu * 2 - 1.0
    return torch.sign(back) * (torch.exp(torch.abs(back) * torch.log1p(mu)) - 1.0) / mu, codes, 20 * torch.log10(y.pow(2).mean(-1).sqrt())
""", args(wave(400)))
script("audio/fbank by frames", """
def f(x):
    frames = x.as_strided([1 + (x.size(0) - 400) // 160, 400], [160, 1])
    frames = frames - frames.mean(1).unsqueeze(1)
    shifted = F.pad(frames.unsqueeze(0), (1, 0), mode="replicate").squeeze(0)
    frames = (frames - 0.97 * shifted[:, :-1]) * torch.hann_window(400, periodic=False).pow(0.85)
    frames = F.pad(frames.unsqueeze(0), (0, 112), mode="constant", value=0.0).squeeze(0)
    power = torch.fft.rfft(frames).abs().pow(2.0)
    return torch.max(torch.mm(power, mel_bank(257, 20.0, 8000.0, 23, 16000)), torch.tensor(1.1920928955078125e-07)).log()
""", args(numbers(4000)))
script("audio/convolution and correlation by fft", """
def f(x, h):
    n = x.size(-1) + h.size(-1) - 1
    y = torch.fft.irfft(torch.fft.rfft(x, n) * torch.fft.rfft(h, n), n)
    r = torch.fft.irfft(torch.fft.rfft(x, 2 * x.size(-1)).abs().pow(2), 2 * x.size(-1))[..., :60]
    return y, r, torch.argmax(r[..., 10:], -1), torch.fft.fftshift(torch.fft.fft(x[..., :9]).abs(), -1), torch.fft.rfftfreq(9, 0.1)
""", args(wave(300), numbers(41)))
