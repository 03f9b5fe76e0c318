# SPDX-License-Identifier: BSD-2-Clause
"""Speech and signal models: conv1d stacks, streaming with kept state, CTC and transducer decoding."""
from typing import Dict, List, Optional, Tuple

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor

from case import Case, calls_of


class ConvStack(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv1d(1, 8, 10, 5, bias=False), nn.GroupNorm(4, 8), nn.GELU(), nn.Conv1d(8, 8, 3, 2), nn.GELU(),
                                    nn.MaxPool1d(2), nn.Conv1d(8, 8, 3, padding=2, dilation=2, groups=8), nn.BatchNorm1d(8), nn.ReLU())
        self.up = nn.ConvTranspose1d(8, 4, 4, 2, 1)

    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        y = self.layers(x.unsqueeze(1))
        return y, self.up(y).tanh()


class Wav2Vec(nn.Module):
    """Features, a positional convolution with weight norm, one layer of attention, CTC greedy decoding to text."""

    def __init__(self):
        super().__init__()
        self.feature = nn.Sequential(nn.Conv1d(1, 12, 8, 4, bias=False), nn.GELU(), nn.Conv1d(12, 12, 3, 2, bias=False), nn.GELU())
        self.norm = nn.LayerNorm(12)
        self.pos = nn.Conv1d(12, 12, 4, padding=2, groups=3)
        self.attn = nn.TransformerEncoderLayer(12, 2, 24, batch_first=True)
        self.aux = nn.Linear(12, 6)
        self.labels: List[str] = ["-", "|", "E", "T", "A", "O"]

    def forward(self, waveform: Tensor) -> str:
        x = F.layer_norm(waveform, waveform.shape[-1:])
        x = self.norm(self.feature(x.unsqueeze(1)).transpose(1, 2))
        p = self.pos(x.transpose(1, 2))[:, :, :-1]
        x = x + F.gelu(p).transpose(1, 2)
        emission = self.aux(self.attn(x)) * 5.0
        index = torch.unique_consecutive(emission[0].argmax(-1))
        text = ""
        for i in index:
            label = int(i)
            if label != 0:
                text += self.labels[label]
        return text.replace("|", " ")


class Ctc(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, 16), nn.Hardtanh(0.0, 20.0, inplace=True), nn.Linear(16, 7))

    def forward(self, feats: Tensor, lengths: Optional[Tensor] = None) -> Tuple[List[List[int]], List[str], Tensor]:
        y = self.net(feats).log_softmax(-1)
        best = y.argmax(-1)
        ids: List[List[int]] = []
        texts: List[str] = []
        for b in range(best.size(0)):
            n = best.size(1) if lengths is None else int(lengths[b])
            last = -1
            out: List[int] = []
            for t in range(n):
                k = int(best[b, t])
                if k != last and k != 0:
                    out.append(k)
                last = k
            ids.append(out)
            texts.append(" ".join([chr(96 + k) for k in out]))
        return ids, texts, y.max(-1)[0].sum(1)


class Streaming(nn.Module):
    """A streaming recognizer with left context and hidden state in attributes."""
    hidden: Optional[Tuple[Tensor, Tensor]]
    cache: Dict[str, Tensor]

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(4, 6, 3)
        self.rnn = nn.LSTM(6, 5, 2)
        self.out = nn.Linear(5, 4)
        self.register_buffer("context", torch.zeros(1, 4, 2))
        self.hidden = None
        self.frames: int = 0
        self.cache = {}

    def forward(self, chunk: Tensor) -> Tuple[Tensor, int]:
        x = torch.cat([self.context, chunk], 2)
        self.context = x[:, :, -2:]
        y = F.relu(self.conv(x)).permute(2, 0, 1)
        y, hidden = self.rnn(y, self.hidden)
        self.hidden = hidden
        self.frames += int(chunk.size(2))
        self.cache["last"] = y[-1]
        if "sum" in self.cache:
            self.cache["sum"] += y.sum(0)
        else:
            self.cache["sum"] = y.sum(0)
        return self.out(y), self.frames

    @torch.jit.export
    def reset(self) -> None:
        self.hidden = None
        self.frames = 0
        self.context.zero_()
        self.cache.clear()

    @torch.jit.export
    def get_cache(self) -> Dict[str, Tensor]:
        return self.cache


class BufferStream(nn.Module):
    """A model that changes its state in place: copy_, add_, roll, and a ring buffer."""

    def __init__(self):
        super().__init__()
        self.register_buffer("ring", torch.zeros(4, 3))
        self.register_buffer("mean", torch.zeros(3))
        self.register_buffer("count", torch.tensor(0))
        self.fc = nn.Linear(12, 2)

    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
        i = int(self.count.item()) % 4
        self.ring[i].copy_(x)
        self.count += 1
        self.mean.mul_(0.9).add_(x, alpha=0.1)
        return self.fc(self.ring.flatten()), self.mean.clone(), self.ring

    @torch.jit.export
    def shift(self, n: int) -> Tensor:
        self.ring.copy_(torch.roll(self.ring, n, 0))
        return self.ring.sum(1)


class Transducer(nn.Module):
    """A transducer with a joiner and a predictor. Greedy search finds at most two symbols a frame. The state is an argument
    and a result."""

    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(6, 4)
        self.pred = nn.LSTMCell(4, 4)
        self.join_enc, self.join_pred, self.out = nn.Linear(5, 6), nn.Linear(4, 6, bias=False), nn.Linear(6, 6)

    def forward(self, enc: Tensor, state: Optional[List[Tensor]] = None) -> Tuple[List[int], List[Tensor]]:
        if state is None:
            state = [torch.zeros(1, 4), torch.zeros(1, 4)]
        tokens: List[int] = []
        g, c = state[0], state[1]
        for t in range(enc.size(0)):
            symbols = 0
            while symbols < 2:
                y = self.out(torch.tanh(self.join_enc(enc[t:t + 1]) + self.join_pred(g)))
                k = int(y.argmax(1).item())
                if k == 0:
                    break
                tokens.append(k)
                g, c = self.pred(self.emb(torch.tensor([k])), (g, c))
                symbols += 1
        return tokens, [g, c]


class KeywordSpotter(nn.Module):
    """Depthwise separable convolutions over a spectrogram. The result is smoothed over several calls."""
    smoothed: Optional[Tensor]

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(1, 8, (10, 4), (2, 2), (5, 1)), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1, groups=8),
                                 nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 1), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
                                 nn.Flatten(), nn.Linear(8, 4))
        self.smoothed = None

    def forward(self, x: Tensor) -> Tensor:
        p = self.net(x).softmax(1)
        old = self.smoothed
        if old is not None:
            p = p * 0.3 + old * 0.7
        self.smoothed = p
        return p


class SlidingCmvn(nn.Module):
    """Makes frames with unfold, and computes windows, log energies and cumulative statistics."""

    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(8, periodic=False))
        self.register_buffer("bank", torch.rand(5, 4))

    def forward(self, wave: Tensor) -> Tensor:
        f = wave.unfold(-1, 8, 4) * self.window
        f = f - f.mean(-1, keepdim=True)
        e = (f.view(f.size(0), 4, 2).pow(2).sum(-1) @ self.bank.t()).clamp_min(1e-5).log()
        n = torch.arange(1, e.size(0) + 1).unsqueeze(1)
        mean = e.cumsum(0) / n
        var = (e ** 2).cumsum(0) / n - mean ** 2
        return F.pad((e - mean) / (var.clamp(min=0) + 0.1).sqrt(), (1, 1, 0, 2), value=-1.0)


class LogMel(nn.Module):
    """The front end of torchaudio's models: power spectrogram, mel scale, decibels."""

    def __init__(self, n_fft: int, hop: int, mels: int):
        super().__init__()
        self.n_fft = n_fft
        self.hop = hop
        self.register_buffer("window", torch.hann_window(n_fft))
        freqs = torch.linspace(0, 8000, n_fft // 2 + 1)
        points = 700.0 * (10.0 ** (torch.linspace(31.7, 2840.0, mels + 2) / 2595.0) - 1.0)
        slopes = points.unsqueeze(0) - freqs.unsqueeze(1)
        steps = points[1:] - points[:-1]
        self.register_buffer("bank", torch.minimum(-slopes[:, :-2] / steps[:-1], slopes[:, 2:] / steps[1:]).clamp(min=0))

    def forward(self, wave: Tensor) -> Tensor:
        spec = torch.stft(wave, self.n_fft, self.hop, self.n_fft, self.window, center=True, pad_mode="reflect", normalized=False, onesided=True,
                          return_complex=True)
        mel = torch.matmul(spec.abs().pow(2.0).transpose(-1, -2), self.bank)
        db = 10.0 * torch.log10(torch.clamp(mel, min=1e-10))
        return torch.max(db, (db.amax((-2, -1)) - 80.0).view(-1, 1, 1))


class StreamingSpeech(nn.Module):
    """Takes pieces of a recording: a partial frame waits for the next piece; an LSTM and a GRU keep their states."""
    lstm_state: Optional[Tuple[Tensor, Tensor]]
    gru_state: Optional[Tensor]

    def __init__(self):
        super().__init__()
        self.front = LogMel(64, 32, 10)
        self.norm = nn.LayerNorm(10)
        self.lstm = nn.LSTM(10, 12, 2, batch_first=True)
        self.gru = nn.GRU(12, 8, batch_first=True)
        self.out = nn.Linear(8, 5)
        self.register_buffer("rest", torch.zeros(1, 0))
        self.lstm_state = None
        self.gru_state = None
        self.seen: int = 0

    @torch.jit.export
    def reset(self) -> int:
        seen = self.seen
        self.rest = self.rest[:, :0]
        self.lstm_state = None
        self.gru_state = None
        self.seen = 0
        return seen

    def forward(self, piece: Tensor) -> Tuple[Tensor, List[int], int]:
        wave = torch.cat([self.rest, piece], 1)
        whole = wave.size(1) // 32 * 32
        if whole < 64:
            self.rest = wave
            return torch.zeros(1, 0, 5), [], self.seen
        self.rest = wave[:, whole - 32:].clone()
        x = self.norm(self.front(wave[:, :whole]) / 40.0)
        x, self.lstm_state = self.lstm(x, self.lstm_state)
        y, state = self.gru(x, self.gru_state)
        self.gru_state = state
        self.seen += x.size(1)
        logits = self.out(y).log_softmax(-1)
        best: List[int] = []
        last = -1
        tokens: List[int] = logits[0].argmax(-1).tolist()
        for token in tokens:
            if token != last and token != 0:
                best.append(token)
            last = token
        return logits, best, self.seen


class Enhance(nn.Module):
    """A GRU over frames computes a mask for the spectrum, which is converted back to a signal."""

    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(33, 16, batch_first=True)
        self.mask = nn.Linear(16, 33)
        self.register_buffer("window", torch.hamming_window(64))

    def forward(self, wave: Tensor, state: Optional[Tensor]) -> Tuple[Tensor, Tensor]:
        z = torch.stft(wave, 64, 16, 64, self.window, return_complex=True)
        y, h = self.gru(torch.log1p(z.abs()).transpose(1, 2), state)
        mask = torch.sigmoid(self.mask(y)).transpose(1, 2)
        return torch.istft(torch.polar(z.abs() * mask, z.angle()), 64, 16, 64, self.window, length=wave.size(-1)), h


def pieces():
    g = torch.Generator().manual_seed(5)
    calls = [("forward", (torch.randn(1, n, generator=g),)) for n in (320, 40, 320, 200)]
    return calls + [("reset", ())] + calls[2:] + [("reset", ())]


STREAM = [("forward", (torch.randn(1, 4, 5),)), ("forward", (torch.randn(1, 4, 3),)), ("get_cache", ()), ("forward", (torch.randn(1, 4, 5),)),
          ("forward", (torch.randn(1, 4, 5),)), ("get_cache", ()), ("reset", ()), ("forward", (torch.randn(1, 4, 5),)), ("get_cache", ())]
RING = [("forward", (torch.randn(3),))] * 2 + [("shift", (1,)), ("forward", (torch.randn(3),)), ("shift", (-2,)), ("forward", (torch.randn(3),))] * 2
SPOT = [("forward", (torch.randn(1, 1, 20, 8),)), ("forward", (torch.randn(1, 1, 24, 8),)), ("forward", (torch.randn(1, 1, 20, 8),)),
        ("forward", (torch.randn(1, 1, 20, 8),))]


class CausalBlock(nn.Module):
    def __init__(self, channels, dilation):
        super().__init__()
        self.pad = dilation
        self.conv = nn.Conv1d(channels, channels * 2, 2, dilation=dilation)
        self.mel = nn.Conv1d(3, channels * 2, 1)
        self.skip, self.out = nn.Conv1d(channels, 6, 1), nn.Conv1d(channels, channels, 1)

    def forward(self, x: Tensor, mel: Tensor) -> Tuple[Tensor, Tensor]:
        a, b = (self.conv(F.pad(x, (self.pad, 0))) + self.mel(mel)).chunk(2, dim=1)
        y = torch.tanh(a) * torch.sigmoid(b)
        return (x + self.out(y)) * 0.5 ** 0.5, self.skip(y)


class WaveNet(nn.Module):
    """Dilated causal convolutions over the previous samples. They generate samples one at a time, as mu-law codes."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(1, 4, 1)
        self.up = nn.ConvTranspose1d(3, 3, 8, 4, 2)
        self.blocks = nn.ModuleList([CausalBlock(4, 2 ** i) for i in range(4)])
        self.last = nn.Sequential(nn.ReLU(), nn.Conv1d(6, 6, 1), nn.ReLU(), nn.Conv1d(6, 16, 1))

    def logits(self, x: Tensor, mel: Tensor) -> Tensor:
        y = self.first(x)
        total = torch.zeros(1)
        for block in self.blocks:
            y, skip = block(y, mel[:, :, :y.size(2)])
            total = total + skip
        return self.last(total)

    def forward(self, x: Tensor, mel: Tensor, more: int) -> Tuple[Tensor, Tensor]:
        mel = self.up(mel)
        for _ in range(more):
            p = F.softmax(self.logits(x, mel)[:, :, -1], 1)
            code = (p * torch.arange(16, dtype=torch.float)).sum(1) / 8 - 0.9375
            x = torch.cat([x, code.sign()[:, None, None] * (((1 + 15.0) ** code.abs() - 1) / 15.0)[:, None, None]], 2)
        return x, self.logits(x, mel)


class GruSpeech(nn.Module):
    """A recognizer: strided convolutions over frames, a bidirectional GRU over packed sequences, an LSTM with projections, and
    CTC's loss."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(1, 3, (3, 5), (2, 1), (1, 2), bias=False), nn.BatchNorm2d(3), nn.Hardtanh(0.0, 20.0))
        self.gru = nn.GRU(12, 5, batch_first=True, bidirectional=True)
        self.lstm = nn.LSTM(10, 6, 2, proj_size=4)
        self.out = nn.Linear(4, 7)

    def forward(self, x: Tensor, lengths: Tensor, text: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
        y = self.conv(x.unsqueeze(1))
        y = y.flatten(1, 2).transpose(1, 2)
        packed = nn.utils.rnn.pack_padded_sequence(y, lengths, batch_first=True, enforce_sorted=False)
        y, h = self.gru(packed)
        y, n = nn.utils.rnn.pad_packed_sequence(y, batch_first=True, padding_value=-1.0, total_length=x.size(2))
        z, (hn, cn) = self.lstm(y.transpose(0, 1))
        p = F.log_softmax(self.out(z), 2)
        loss = F.ctc_loss(p, text, n, torch.full((x.size(0),), text.size(1), dtype=torch.long), reduction="none", zero_infinity=True)
        return p, h, loss


CASES = [
    Case("conv_stack", ConvStack, calls_of((torch.randn(1, 120),), (torch.randn(2, 200),)), trace=True),
    Case("wav2vec", Wav2Vec, calls_of((torch.randn(1, 200),), (torch.randn(1, 300),))),
    Case("ctc", Ctc, calls_of((torch.randn(2, 9, 5), torch.tensor([9, 4])), (torch.randn(1, 14, 5), None))),
    Case("streaming", Streaming, STREAM, mobile=False),
    Case("buffer_stream", BufferStream, RING, preserve=("shift",)),
    Case("transducer", Transducer, calls_of((torch.randn(5, 5), None), (torch.randn(3, 5), [torch.randn(1, 4), torch.randn(1, 4)]))),
    Case("keyword", KeywordSpotter, SPOT, mobile=False),
    Case("cmvn", SlidingCmvn, calls_of((torch.randn(60),), (torch.randn(33),)), trace=True),
    Case("streaming_speech", StreamingSpeech, pieces(), mobile=False),
    Case("log_mel", lambda: LogMel(400, 160, 20), calls_of((torch.randn(2, 3200),), (torch.randn(1, 2000),))),
    Case("enhance", Enhance, calls_of((torch.randn(2, 400), None), (torch.randn(1, 300), torch.randn(1, 1, 16)))),
    Case("wavenet", WaveNet, calls_of((torch.randn(1, 1, 6), torch.randn(1, 3, 4), 3), (torch.randn(2, 1, 9), torch.randn(2, 3, 4), 0))),
    Case("gru_speech", GruSpeech, calls_of((torch.randn(3, 8, 9), torch.tensor([4, 9, 6]), torch.tensor([[1, 2], [3, 3], [6, 1]])),
                                           (torch.randn(1, 8, 12), torch.tensor([11]), torch.tensor([[5, 5, 2]])))),
]
