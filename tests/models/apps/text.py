# SPDX-License-Identifier: BSD-2-Clause
"""Text models: classifiers, recurrent and attention sequence models, transformers, question answering."""
import math
from typing import Dict, List, Optional, Tuple

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from case import Case, calls_of


class BagClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.bag = nn.EmbeddingBag(50, 8, mode="mean")
        self.sum = nn.EmbeddingBag(50, 8, mode="sum", padding_idx=0)
        self.fc = nn.Linear(16, 4)

    def forward(self, text: Tensor, offsets: Tensor) -> Tensor:
        return self.fc(torch.cat([self.bag(text, offsets), self.sum(text, offsets)], 1))


class ByteClassifier(nn.Module):
    """Takes the bytes of a string and returns scores, as in the text demo. A method returns the labels."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(256, 12)
        self.lstm = nn.LSTM(12, 8, 2, bidirectional=True)
        self.fc = nn.Linear(16, 3)
        self.labels: List[str] = ["sports", "news", "\u00fcber"]

    def forward(self, data: Tensor) -> Tensor:
        x = self.embedding(data.long()).unsqueeze(1)
        out, (h, c) = self.lstm(x)
        return F.softmax(self.fc(torch.cat([h[-2], h[-1]], 1)), dim=1)

    @torch.jit.export
    def get_classes(self) -> List[str]:
        return self.labels

    @torch.jit.export
    def top(self, data: Tensor, k: int = 2) -> List[Tuple[str, float]]:
        values, index = self.forward(data)[0].topk(k)
        out: List[Tuple[str, float]] = []
        for i in range(k):
            out.append((self.labels[int(index[i])], float(int(float(values[i]) * 1000))))
        return out


class GruTagger(nn.Module):
    """A recurrent network of several layers, batch first. It takes a hidden state and returns the new state."""

    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(30, 6, padding_idx=0)
        self.gru = nn.GRU(6, 5, num_layers=3, batch_first=True, dropout=0.3)
        self.bi = nn.GRU(5, 4, bidirectional=True, bias=False)
        self.fc = nn.Linear(8, 7)

    def forward(self, tokens: Tensor, hidden: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
        y, h = self.gru(self.emb(tokens), hidden)
        z, _ = self.bi(y.transpose(0, 1))
        return self.fc(z).transpose(0, 1), h


class PackedLstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 5, batch_first=True, bidirectional=True)
        self.head = nn.Linear(10, 2)

    def forward(self, x: Tensor, lengths: Tensor) -> Tuple[Tensor, Tensor]:
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        out, _ = self.lstm(packed)
        y, n = pad_packed_sequence(out, batch_first=True)
        return self.head(y), n


class StatefulLm(nn.Module):
    """A language model that keeps its hidden state between calls."""

    history: List[int]

    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(20, 6)
        self.cell = nn.LSTMCell(6, 5)
        self.out = nn.Linear(5, 20)
        self.state: Tuple[Tensor, Tensor] = (torch.zeros(1, 5), torch.zeros(1, 5))
        self.steps: int = 0
        self.history = []

    def forward(self, token: int) -> Tensor:
        h, c = self.cell(self.emb(torch.tensor([token])), self.state)
        self.state = (h, c)
        self.steps += 1
        self.history.append(token)
        return F.log_softmax(self.out(h), 1)

    @torch.jit.export
    def reset(self) -> int:
        n = self.steps
        self.state = (torch.zeros(1, 5), torch.zeros(1, 5))
        self.steps = 0
        self.history.clear()
        return n

    @torch.jit.export
    def get_state(self) -> Tuple[Tensor, Tensor, List[int]]:
        return self.state[0], self.state[1], self.history

    @torch.jit.export
    def generate(self, token: int, most: int) -> List[int]:
        out: List[int] = []
        while len(out) < most:
            token = int(self.forward(token).argmax(1).item())
            if token == 3:
                break
            out.append(token)
        return out


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(25, 8)
        self.gru = nn.GRU(8, 8)

    def forward(self, token: Tensor, hidden: Tensor) -> Tuple[Tensor, Tensor]:
        return self.gru(self.emb(token).view(1, 1, -1), hidden)


class AttnDecoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(25, 8)
        self.attn, self.combine, self.out = nn.Linear(16, 10), nn.Linear(16, 8), nn.Linear(8, 25)
        self.gru = nn.GRU(8, 8)
        self.dropout = nn.Dropout(0.1)

    def forward(self, token: Tensor, hidden: Tensor, encoded: Tensor):
        e = self.dropout(self.emb(token).view(1, 1, -1))
        w = F.softmax(self.attn(torch.cat((e[0], hidden[0]), 1)), dim=1)
        applied = torch.bmm(w.unsqueeze(0), encoded.unsqueeze(0))
        y = F.relu(self.combine(torch.cat((e[0], applied[0]), 1)).unsqueeze(0))
        y, hidden = self.gru(y, hidden)
        return F.log_softmax(self.out(y[0]), dim=1), hidden, w


class Seq2Seq(nn.Module):
    """Greedy decoding in a while loop, as in the translation demo."""

    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = Encoder(), AttnDecoder()

    def forward(self, tokens: Tensor) -> Tuple[Tensor, Tensor]:
        hidden = torch.zeros(1, 1, 8)
        encoded = torch.zeros(10, 8)
        for i in range(min(tokens.size(0), 10)):
            out, hidden = self.encoder(tokens[i], hidden)
            encoded[i] += out[0, 0]
        token = torch.tensor([[0]])
        words: List[Tensor] = []
        maps = torch.zeros(10, 10)
        step = 0
        done = False
        while step < 10 and not done:
            y, hidden, w = self.decoder(token, hidden, encoded)
            maps[step] = w.data[0]
            top = y.topk(1)[1]
            if int(top.item()) == 1:
                done = True
            else:
                words.append(top.squeeze())
                token = top.detach()
            step += 1
        result = torch.stack(words) if len(words) > 0 else torch.zeros(0, dtype=torch.long)
        return result, maps[:step]


class PositionalEncoding(nn.Module):
    def __init__(self, d, n=64):
        super().__init__()
        pe = torch.zeros(n, d)
        p = torch.arange(n).unsqueeze(1)
        div = torch.exp(torch.arange(0, d, 2) * (-math.log(10000.0) / d))
        pe[:, 0::2], pe[:, 1::2] = torch.sin(p * div), torch.cos(p * div)
        self.register_buffer("pe", pe.unsqueeze(1))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.pe[:x.size(0)]


class Lm(nn.Module):
    """nn.TransformerEncoder with a causal mask made in the model."""

    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(40, 16)
        self.pos = PositionalEncoding(16)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32, activation="gelu"), 2)
        self.out = nn.Linear(16, 40)

    def forward(self, src: Tensor) -> Tensor:
        n = src.size(0)
        mask = torch.triu(torch.ones(n, n) * float("-inf"), diagonal=1)
        return self.out(self.encoder(self.pos(self.emb(src) * math.sqrt(16.0)), mask))


class PaddedEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(12, 3, 20, batch_first=True, norm_first=True)

    def forward(self, x: Tensor, padding: Optional[Tensor] = None) -> Tensor:
        return self.layer(x, None, padding)


class NestedEncoder(nn.Module):
    """nn.TransformerEncoder with a padding mask; the encoder uses nested tensors inside."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(12, 2, 20, batch_first=True), 2)

    def forward(self, x: Tensor, padding: Optional[Tensor] = None) -> Tensor:
        return self.encoder(x, None, padding)


class Translator(nn.Module):
    """nn.TransformerDecoder with memory and masks, decoded step by step."""

    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(12, 8)
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16), 2, nn.LayerNorm(8))
        self.out = nn.Linear(8, 12)

    def forward(self, memory: Tensor, most: int) -> Tuple[List[int], Tensor]:
        tokens = torch.zeros(1, 1, dtype=torch.long)
        logits = torch.zeros(1, 12)
        for _ in range(most):
            n = tokens.size(0)
            mask = torch.full((n, n), float("-inf")).triu(1)
            y = self.decoder(self.emb(tokens), memory, tgt_mask=mask)
            logits = self.out(y[-1])
            token = logits.argmax(-1)
            tokens = torch.cat([tokens, token.unsqueeze(0)], 0)
            if int(token[0]) == 11:
                break
        ids: List[int] = tokens.flatten().tolist()
        return ids, logits


class Bert(nn.Module):
    """A BERT layer of basic operators with a span answer, like the question answering demo."""

    def __init__(self, dim=16, heads=4):
        super().__init__()
        self.word, self.position, self.kind = nn.Embedding(60, dim, padding_idx=0), nn.Embedding(32, dim), nn.Embedding(2, dim)
        self.register_buffer("position_ids", torch.arange(32).expand((1, -1)))
        self.norm0, self.norm1, self.norm2 = nn.LayerNorm(dim, eps=1e-12), nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.q, self.k, self.v, self.o = (nn.Linear(dim, dim) for _ in range(4))
        self.up, self.down, self.span = nn.Linear(dim, 32), nn.Linear(32, dim), nn.Linear(dim, 2)
        self.heads = heads

    def shape(self, x: Tensor) -> Tensor:
        return x.view(x.size(0), -1, self.heads, x.size(-1) // self.heads).permute(0, 2, 1, 3)

    def forward(self, ids: Tensor, mask: Optional[Tensor] = None, kinds: Optional[Tensor] = None) -> Dict[str, Tensor]:
        if mask is None:
            mask = torch.ones_like(ids)
        if kinds is None:
            kinds = torch.zeros_like(ids)
        x = self.word(ids) + self.position(self.position_ids[:, :ids.size(1)]) + self.kind(kinds)
        x = self.norm0(x)
        extended = (1.0 - mask[:, None, None, :].to(x.dtype)) * -10000.0
        q, k, v = self.shape(self.q(x)), self.shape(self.k(x)), self.shape(self.v(x))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(float(q.size(-1))) + extended
        c = torch.matmul(F.softmax(scores, dim=-1), v).permute(0, 2, 1, 3).contiguous()
        c = c.view(c.size()[:-2] + [x.size(-1)])
        x = self.norm1(self.o(c) + x)
        x = self.norm2(self.down(F.gelu(self.up(x))) + x)
        start, end = self.span(x).split(1, dim=-1)
        return {"start_logits": start.squeeze(-1).contiguous(), "end_logits": end.squeeze(-1)}


class Beam(nn.Module):
    """Beam search that keeps its beams in lists of tuples."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(9, 9)

    def forward(self, start: int, width: int = 2, steps: int = 4) -> List[Tuple[List[int], float]]:
        beams: List[Tuple[List[int], float]] = [([start], 0.0)]
        for _ in range(steps):
            grown: List[Tuple[List[int], float]] = []
            for seq, score in beams:
                if seq[-1] == 8:
                    grown.append((seq, score))
                    continue
                p = F.log_softmax(self.table(torch.tensor(seq[-1])) * 3.0, 0)
                values, index = p.topk(width)
                for j in range(width):
                    grown.append((seq + [int(index[j])], score + float(values[j])))
            keys = torch.tensor([b[1] for b in grown])
            order: List[int] = keys.argsort(descending=True)[:width].tolist()
            beams = [grown[i] for i in order]
        return beams


class Attention(nn.Module):
    """nn.MultiheadAttention of a query with other keys and values; also returns the attention weights."""

    def __init__(self):
        super().__init__()
        self.a = nn.MultiheadAttention(8, 2, add_zero_attn=True)
        self.b = nn.MultiheadAttention(8, 4, batch_first=True)

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tuple[Tensor, Optional[Tensor], Tensor]:
        x, w = self.a(q, k, v)
        y, _ = self.b(x, x, x, need_weights=False)
        return x, w, y


def tokens(*shape, high=20):
    return torch.randint(1, high, shape, generator=torch.Generator().manual_seed(sum(shape) + high))


LM = [("forward", (4,)), ("forward", (7,)), ("get_state", ()), ("generate", (2, 6)), ("get_state", ()), ("reset", ()), ("forward", (4,)),
      ("get_state", ())]
BYTES = [("forward", (torch.tensor(list(b"hello"), dtype=torch.uint8),)), ("get_classes", ()),
         ("forward", (torch.tensor(list(b"a much longer text"), dtype=torch.uint8),)),
         ("top", (torch.tensor(list(b"world"), dtype=torch.uint8),)), ("forward", (torch.tensor(list(b"hello"), dtype=torch.uint8),))]
PADDING = torch.tensor([[False, False, True, True, True], [False, False, False, False, True]])
BERT = [("forward", (tokens(1, 7),)), ("forward", (tokens(2, 5), torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]]))),
        ("forward", (tokens(1, 7), None, torch.tensor([[0, 0, 0, 1, 1, 1, 1]]))), ("forward", (tokens(1, 7),))]


class Tokenizer(nn.Module):
    """Splits words into pieces by a dictionary, the longest piece first, like BERT's tokenizer."""

    counts: Dict[str, int]

    def __init__(self):
        super().__init__()
        words = "[PAD] [UNK] [CLS] [SEP] the a cat dog run ##ning ##s un ##happy ! , . 1 ##2".split()
        self.ids: Dict[str, int] = {w: i for i, w in enumerate(words)}
        self.words: List[str] = words
        self.counts = {}

    def pieces(self, word: str) -> List[int]:
        out: List[int] = []
        start = 0
        while start < len(word):
            end = len(word)
            found = -1
            while start < end:
                piece = word[start:end]
                if start > 0:
                    piece = "##" + piece
                if piece in self.ids:
                    found = self.ids[piece]
                    break
                end -= 1
            if found < 0:
                return [self.ids["[UNK]"]]
            out.append(found)
            start = end
        return out

    @torch.jit.export
    def tokenize(self, text: str) -> List[str]:
        clean = text.strip().lower().replace("\t", " ")
        words: List[str] = []
        for word in clean.split():
            current = ""
            for c in word:
                if c.isalnum():
                    current += c
                else:
                    if len(current) > 0:
                        words.append(current)
                    words.append(c)
                    current = ""
            if len(current) > 0:
                words.append(current)
        for word in words:
            self.counts[word] = self.counts.get(word, 0) + 1
        return words

    @torch.jit.export
    def most_common(self, n: int) -> List[Tuple[int, str]]:
        pairs: List[Tuple[int, str]] = []
        for word, count in self.counts.items():
            pairs.append((-count, word))
        pairs.sort()
        return [(-a, b) for a, b in pairs[:n]]

    def forward(self, text: List[str], most: int) -> Tuple[Tensor, Tensor, List[str]]:
        rows: List[List[int]] = []
        for line in text:
            ids = [self.ids["[CLS]"]]
            for word in self.tokenize(line):
                ids.extend(self.pieces(word))
            ids = ids[:most - 1]
            ids.append(self.ids["[SEP]"])
            rows.append(ids)
        longest = max([len(r) for r in rows])
        out = torch.zeros(len(rows), longest, dtype=torch.long)
        shown: List[str] = []
        for i, r in enumerate(rows):
            out[i, :len(r)] = torch.tensor(r)
            said = " ".join([self.words[j] for j in r]).replace(" ##", "")
            shown.append("{}: {} ({:d} of {}) %s".format(i, said, len(r), longest) % said.upper()[:3].rjust(5, "."))
        return out, (out != 0).long(), shown


class SentenceClassifier(nn.Module):
    """A tokenizer and its model in one file; returns the name of the class."""

    def __init__(self):
        super().__init__()
        self.tokenizer = Tokenizer()
        self.emb = nn.Embedding(18, 6, padding_idx=0)
        self.convs = nn.ModuleList([nn.Conv1d(6, 4, k, padding=k - 1) for k in (2, 3)])
        self.fc = nn.Linear(8, 3)
        self.names: Dict[int, str] = {0: "bad", 1: "fair", 2: "good"}

    def forward(self, text: List[str]) -> List[Dict[str, float]]:
        ids, mask, _ = self.tokenizer(text, 12)
        x = (self.emb(ids) * mask.unsqueeze(-1)).transpose(1, 2)
        pooled: List[Tensor] = []
        for conv in self.convs:
            pooled.append(F.relu(conv(x)).max(2)[0])
        p = F.softmax(self.fc(torch.cat(pooled, 1)), 1)
        out: List[Dict[str, float]] = []
        for row in p:
            d: Dict[str, float] = {}
            for i, v in enumerate(row):
                d[self.names[i]] = float(v)
            out.append(d)
        return out


class EinsumAttention(nn.Module):
    """Heads by einsum, T5's relative position buckets, a rotation of queries and keys, a gated layer, tied output weights."""

    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(30, 12)
        self.q, self.k, self.v, self.o = (nn.Parameter(torch.randn(12, 3, 4) * 0.3) for _ in range(4))
        self.bias = nn.Embedding(8, 3)
        self.gate, self.up, self.down = nn.Linear(12, 16, False), nn.Linear(12, 16, False), nn.Linear(16, 12, False)
        self.norm = nn.Parameter(torch.ones(12))

    def rotate(self, x: Tensor) -> Tensor:
        angle = torch.arange(x.size(1)).unsqueeze(1) * torch.tensor([1.0, 0.01])
        c, s = torch.cos(angle)[None, :, None], torch.sin(angle)[None, :, None]
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * c - b * s, a * s + b * c], -1).flatten(-2)

    def bucket(self, n: int) -> Tensor:
        far = torch.arange(n)[None, :] - torch.arange(n)[:, None]
        side = (far > 0).to(torch.long) * 4
        far = far.abs()
        large = 2 + (torch.log(far.float().clamp(min=1) / 2) / math.log(8.0) * 2).to(torch.long)
        return side + torch.where(far < 2, far, torch.min(large, torch.full_like(large, 3)))

    def forward(self, ids: Tensor) -> Tensor:
        x = self.emb(ids)
        y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.norm
        q = self.rotate(torch.einsum("bnd,dhe->bnhe", y, self.q))
        k = self.rotate(torch.einsum("bnd,dhe->bnhe", y, self.k))
        v = torch.einsum("bnd,dhe->bnhe", y, self.v)
        a = torch.einsum("bqhe,bkhe->bhqk", q, k) + self.bias(self.bucket(ids.size(1))).permute(2, 0, 1)
        a = a.masked_fill(torch.ones(ids.size(1), ids.size(1), dtype=torch.bool).triu(1), -10000.0)
        x = x + torch.einsum("bhqk,bkhe,dhe->bqd", a.softmax(-1), v, self.o)
        x = x + self.down(F.silu(self.gate(x)) * self.up(x))
        return torch.einsum("bnd,vd->bnv", x, self.emb.weight)


class Recommender(nn.Module):
    """Sparse features in bags, their products in pairs, a factorization term, the best items of a table."""

    def __init__(self):
        super().__init__()
        self.bags = nn.ModuleList([nn.EmbeddingBag(n, 4, mode="sum", include_last_offset=True) for n in (10, 20, 7)])
        self.weighted = nn.EmbeddingBag(15, 4, mode="sum")
        self.bottom = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 4), nn.ReLU())
        self.top = nn.Sequential(nn.Linear(14, 6), nn.PReLU(), nn.Linear(6, 1))
        self.items = nn.Parameter(torch.randn(25, 4))

    def forward(self, dense: Tensor, indices: List[Tensor], offsets: List[Tensor], history: Tensor, weights: Tensor,
                seen: Dict[int, List[int]]) -> Tuple[Tensor, Tensor, List[List[int]]]:
        x = self.bottom(dense)
        parts = [x]
        for i, bag in enumerate(self.bags):
            parts.append(bag(indices[i], offsets[i]))
        parts.append(self.weighted(history, per_sample_weights=weights))
        t = torch.stack(parts, 1)
        pairs = torch.bmm(t, t.transpose(1, 2))
        rows, columns = torch.tril_indices(t.size(1), t.size(1), -1).unbind(0)
        second = 0.5 * (t.sum(1).pow(2) - t.pow(2).sum(1)).sum(1)
        y = self.top(torch.cat([x, pairs[:, rows, columns]], 1)).squeeze(1) + second
        user = F.normalize(t.mean(1), dim=1)
        scores = user @ F.normalize(self.items, dim=1).t()
        for row, items in seen.items():
            if len(items) > 0:
                scores[row, torch.tensor(items)] = float("-inf")
        values, best = scores.topk(3, dim=1)
        picked: List[List[int]] = best.tolist()
        return torch.sigmoid(y), values, picked


def shopping(n, seed):
    g = torch.Generator().manual_seed(seed)
    indices, offsets = [], []
    for size in (10, 20, 7):
        counts = torch.randint(0, 4, (n,), generator=g)
        offsets.append(torch.cat([torch.zeros(1, dtype=torch.long), counts.cumsum(0)]))
        indices.append(torch.randint(0, size, (int(counts.sum()),), generator=g))
    return (torch.randn(n, 5, generator=g), indices, offsets, torch.randint(0, 15, (n, 3), generator=g), torch.rand(n, 3, generator=g))


TALK = [("forward", (["The cat  runs, the DOG!", "unhappy 12 dogs\tzebra"], 9)), ("tokenize", ("A cat.",)), ("most_common", (3,)),
        ("forward", (["running"], 4)), ("most_common", (20,)), ("tokenize", ("",))]


CASES = [
    Case("bag", BagClassifier, [("forward", (tokens(n), torch.tensor(o))) for n, o in ((9, [0, 4]), (14, [0, 1, 1, 10]), (9, [0, 6]), (9, [0, 4]))]),
    Case("bytes", ByteClassifier, BYTES, preserve=("get_classes", "top", "labels"), no_schema=False),
    Case("gru_tagger", GruTagger, calls_of((tokens(2, 5), None), (tokens(1, 9), torch.randn(3, 1, 5))), no_schema=True),
    Case("packed_lstm", PackedLstm, calls_of((torch.randn(3, 6, 4), torch.tensor([6, 2, 4])), (torch.randn(2, 3, 4), torch.tensor([1, 3])))),
    Case("stateful_lm", StatefulLm, LM, mobile=False),
    Case("seq2seq", Seq2Seq, calls_of((tokens(6),), (tokens(11),))),
    Case("lm", Lm, calls_of((tokens(6, 1),), (tokens(4, 2),))),
    Case("padded_encoder", PaddedEncoder, calls_of((torch.randn(2, 5, 12), PADDING), (torch.randn(1, 7, 12), None))),
    Case("nested_encoder", NestedEncoder, calls_of((torch.randn(2, 5, 12), PADDING), (torch.randn(1, 7, 12), None))),
    Case("translator", Translator, calls_of((torch.randn(4, 1, 8), 6), (torch.randn(2, 1, 8), 3))),
    Case("bert", Bert, BERT, no_schema=False),
    Case("beam", Beam, [("forward", (0,)), ("forward", (5, 3)), ("forward", (0, 2, 7))], no_schema=False),
    Case("attention", Attention, calls_of((torch.randn(3, 2, 8), torch.randn(5, 2, 8), torch.randn(5, 2, 8)),
                                          (torch.randn(1, 1, 8), torch.randn(2, 1, 8), torch.randn(2, 1, 8)))),
    Case("tokenizer", Tokenizer, TALK, mobile=False, no_schema=False),
    Case("sentences", SentenceClassifier, [("forward", (t,)) for t in (["the cat runs!", "a dog"], ["unhappy"], ["the cat runs!", "a dog"])], mobile=False),
    Case("einsum_attention", EinsumAttention, calls_of((tokens(2, 6),), (tokens(1, 11),))),
    Case("recommender", Recommender, [("forward", shopping(2, 1) + ({0: [3, 4], 1: []},)), ("forward", shopping(5, 2) + ({},)),
                                      ("forward", shopping(2, 3) + ({1: [0]},)), ("forward", shopping(2, 1) + ({0: [3, 4], 1: []},))], mobile=False,
         no_schema=False),
]
