# SPDX-License-Identifier: BSD-2-Clause
"""Networks of public packages for run_networks_torch2.py, each built with weights from a seed: torchvision's zoo, one network of each family
of timm, small transformers of many families, ultralytics' detectors. FAMILIES lists the packages. names(family) returns the names of a
family's networks, and build(family, name) builds a network."""
import importlib.util
import inspect
import random

import torch
from torch import nn

try:
    from torch.export import Dim
    ANY = getattr(Dim, "AUTO", None)
except ImportError:  # PyTorch before 2.2 has no Dim
    Dim, ANY = None, None

torch.version.cuda = None  # torchaudio's wheel is compiled for another CUDA version than torch's, and would refuse to load
TIMM_SEED, TIMM_FAMILIES, TIMM_PARAMETERS, TIMM_SIZE = 5, 60, 40e6, 288
FAMILIES = {"torchvision": "torchvision", "transforms": "torchvision", "timm": "timm", "transformers": "transformers",
            "ultralytics": "ultralytics", "torchaudio": "torchaudio"}


class Network:
    """A module and its arguments: make(batch, step) returns (args, kwargs) for a batch, with the exported sizes (step 0) or larger sizes (step 1).
    dynamic: {"batch": dynamic_shapes, "sizes": dynamic_shapes}; either member may be missing. steps: number of consecutive calls of a
    decoder."""

    def __init__(self, module, make, dynamic=None, steps=None, scripts=True, traces=True, detects=False):
        self.module, self.make, self.dynamic, self.steps = module.eval(), make, dict(dynamic or {}), steps
        self.scripts, self.traces, self.detects = scripts, traces, detects
        if ANY is None:
            self.dynamic.pop("sizes", None)
        if Dim is None:
            self.dynamic.pop("batch", None)


def any_batch(most=64, name="batch"):
    return Dim(name, min=1, max=most) if Dim is not None else None


def available(family):
    return importlib.util.find_spec(FAMILIES[family]) is not None


def names(family):
    return {"torchvision": torchvision_names, "timm": timm_names, "transformers": lambda: list(TRANSFORMERS), "torchaudio": lambda: list(AUDIO),
            "transforms": lambda: list(TRANSFORMS), "ultralytics": lambda: list(ULTRALYTICS)}[family]()


def build(family, name):
    torch.manual_seed(1)
    made = {"torchvision": torchvision_network, "timm": timm_network, "transformers": lambda n: TRANSFORMERS[n](), "torchaudio": lambda n: AUDIO[n](),
            "transforms": transforms_network, "ultralytics": ultralytics_network}[family](name)
    for module in made.module.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm) and module.running_var is not None:
            nn.init.uniform_(module.running_var, 0.7, 1.3)
            nn.init.uniform_(module.running_mean, -0.1, 0.1)
    return made


def image_network(module, channels, height, width, step=32, **more):
    """A network whose argument is a batch of images. `sizes`: height and width are dynamic too."""
    name = next(iter(inspect.signature(module.forward).parameters))
    return Network(module, lambda batch, n: ((torch.randn(batch, channels, height + step * n, width + 2 * step * n),), {}),
                   {"batch": {name: {0: any_batch()}},
                    "sizes": {name: {0: ANY, 2: ANY, 3: ANY}}}, **more)


# ---- torchvision

def torchvision_names():
    from torchvision import models
    return [name for name in models.list_models() if not name.startswith("quantized_")]


def torchvision_network(name):
    import torchvision
    models, options = torchvision.models, {}
    if name in ("googlenet", "inception_v3"):
        options["init_weights"] = False
    if name in models.list_models(models.segmentation) + models.list_models(models.detection):
        options["weights_backbone"] = None
    module = models.get_model(name, weights=None, **options)
    if name in models.list_models(models.detection):
        module.eval()
        if not name.startswith("ssd"):
            module.transform.min_size, module.transform.max_size = (128,), 160
        if name.startswith(("fcos", "retinanet")):  # low limits, because random weights give low scores
            module.score_thresh, module.topk_candidates, module.detections_per_img = 0.0005, 60, 20
        return Network(module, lambda batch, n: (([torch.rand(3, 120, 160) for _ in range(batch)],), {}), traces=False, detects=True)
    if name in models.list_models(models.optical_flow):
        batch = any_batch(8)
        return Network(module, lambda batch, n: (tuple(torch.randn(batch, 3, 128, 136) for _ in range(2)), {}),
                       {"batch": {"image1": {0: batch}, "image2": {0: batch}}})
    if name in models.list_models(models.video):
        size = 224 if name.startswith(("mvit", "s3d", "swin")) else 112
        frames = 16
        return Network(module, lambda batch, n: ((torch.randn(batch, 3, frames, size, size),), {}),
                       {"batch": {"x": {0: any_batch(8)}}})
    size = 299 if name == "inception_v3" else 224
    return image_network(module, 3, size, size)


# Transforms that torch.jit.script accepts, from torchvision's documentation, with True if a transform takes float images, and False if it
# takes images of 8 bits.
TRANSFORMS = {
    "resize": ("Resize([40, 52], antialias=True)", False), "resize-nearest": ("Resize([40, 52], interpolation=InterpolationMode.NEAREST)", False),
    "center-crop": ("CenterCrop([24, 40])", False), "pad": ("Pad([2, 3], padding_mode='reflect')", False), "grayscale": ("Grayscale(3)", False),
    "normalize": ("Normalize([0.4, 0.5, 0.6], [0.2, 0.3, 0.2])", True), "to-float": ("ConvertImageDtype(torch.float32)", False),
    "blur": ("GaussianBlur([5, 3], [1.5, 1.5])", False), "flip": ("RandomHorizontalFlip(1.0)", False), "five-crop": ("FiveCrop([16, 16])", False),
    "posterize": ("RandomPosterize(3, 1.0)", False), "solarize": ("RandomSolarize(99, 1.0)", False), "equalize": ("RandomEqualize(1.0)", False),
    "autocontrast": ("RandomAutocontrast(1.0)", False), "sharpness": ("RandomAdjustSharpness(1.7, 1.0)", False), "invert": ("RandomInvert(1.0)", False),
    "rotation": ("RandomRotation((30, 30))", False), "affine": ("RandomAffine((20, 20), (0, 0), (1.2, 1.2))", False),
    "jitter": ("ColorJitter((1.2, 1.2), (0.8, 0.8), (1.5, 1.5), (0.1, 0.1))", False),
    "perspective": ("RandomPerspective(0.0, 1.0)", False), "erasing": ("RandomErasing(1.0, (0.1, 0.1), (1.0, 1.0))", True),
    "classification": ("torchvision.transforms._presets.ImageClassification(crop_size=32, resize_size=40)", False),
    "segmentation": ("torchvision.transforms._presets.SemanticSegmentation(resize_size=40)", False),
    "detection": ("torchvision.transforms._presets.ObjectDetection()", False),
    "video": ("torchvision.transforms._presets.VideoClassification(crop_size=(32, 32), resize_size=(40, 40))", False),
}


def transforms_network(name):
    import torchvision
    from torchvision.transforms import InterpolationMode, v2
    how, is_float = TRANSFORMS[name]
    made = eval(how if how.startswith("torchvision") else f"v2.{how}",  # eval gets only texts of this file
                {"v2": v2, "torch": torch, "torchvision": torchvision, "InterpolationMode": InterpolationMode})
    sizes = (1, 3, 3, 44, 60) if name == "video" else (3, 44, 60)

    def make(batch, step):
        return ((torch.rand(sizes) if is_float else torch.randint(0, 256, sizes, dtype=torch.uint8),), {})
    return Network(made, make, traces=False)


# ---- timm: one small network of each module

def timm_draw():
    import timm
    generator, found = random.Random(TIMM_SEED), []
    modules = timm.list_modules()
    generator.shuffle(modules)
    for module in modules:
        models = timm.list_models(module=module)
        generator.shuffle(models)
        for name in models[:12]:
            try:
                with torch.device("meta"):
                    model = timm.create_model(name, pretrained=False)
            except Exception:
                continue
            size = model.default_cfg.get("input_size", (3, 224, 224))
            if sum(p.numel() for p in model.parameters()) <= TIMM_PARAMETERS and max(size[1:]) <= TIMM_SIZE:
                found.append(name)
                break
        if len(found) == TIMM_FAMILIES:
            break
    return found


def timm_names():
    return timm_draw()


def timm_network(name):
    import timm
    module = timm.create_model(name, pretrained=False)
    network = image_network(module, *module.default_cfg.get("input_size", (3, 224, 224)))
    return network


# ---- transformers

def text(module, vocabulary=99, length=11, kwargs=("input_ids", "attention_mask"), **more):
    def make(batch, n):
        sizes = (batch, length + 5 * n)
        mask = torch.ones(sizes, dtype=torch.int64)
        if batch > 1:
            mask[1, -3:] = 0
        values = {"input_ids": torch.randint(3, vocabulary, sizes), "attention_mask": mask,
                  "decoder_input_ids": torch.randint(3, vocabulary, (batch, 4 + n))}
        return (), {name: values[name] for name in kwargs}

    batch = any_batch()
    return Network(module, make, {"batch": {name: {0: batch} for name in kwargs},
                                  "sizes": {name: {0: ANY, 1: ANY} for name in kwargs}}, scripts=False, **more)


def images(module, size=64, **more):
    made = image_network(module, 3, size, size, scripts=False, **more)
    return made


def sound(module, length=4000):
    return Network(module, lambda batch, n: ((torch.randn(batch, length + 800 * n),), {}),
                   {"batch": {"input_values": {0: any_batch()}}, "sizes": {"input_values": {0: ANY, 1: ANY}}},
                   scripts=False)


class Whole(nn.Module):
    """A model of transformers, with options that are not arguments of the program."""

    def __init__(self, model, **options):
        super().__init__()
        self.model, self.options = model, options


class Text(Whole):
    def forward(self, input_ids, attention_mask):
        return self.model(input_ids=input_ids, attention_mask=attention_mask, **self.options)


class Sequences(Whole):
    def forward(self, input_ids, attention_mask, decoder_input_ids):
        return self.model(input_ids=input_ids, attention_mask=attention_mask, decoder_input_ids=decoder_input_ids, **self.options)


class Pixels(Whole):
    def forward(self, pixel_values):
        return self.model(pixel_values=pixel_values, **self.options)


class Sound(Whole):
    def forward(self, input_values):
        return self.model(input_values, **self.options)


SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48, "vocab_size": 99,
         "max_position_embeddings": 64}
GROUPED = {**SMALL, "num_key_value_heads": 2, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}


def model(kind, config, head="", **options):
    import transformers
    made = getattr(transformers, f"{kind}{head or 'Model'}")(getattr(transformers, f"{kind}Config")(**options, **config))
    for parameter in made.parameters():  # weights that are 0 or 1 could hide mistakes
        if parameter.dim() == 1:
            nn.init.normal_(parameter, 0.1 if float(parameter.detach().abs().max()) == 0 else 1.0, 0.1)
    return made.eval()


def encoder(kind, head="", **options):
    return lambda: text(Text(model(kind, {**SMALL, **options}, head)))


def decoder(kind, config, head="ForCausalLM"):
    return lambda: text(Text(model(kind, config, head), use_cache=False))


def cached(kind, config):
    """A decoder with a static cache, which is called for one token after the other."""
    def make():
        from transformers.integrations.executorch import TorchExportableModuleForDecoderOnlyLM
        from transformers import GenerationConfig
        made = model(kind, config, "LMHeadModel" if kind == "GPT2" else "ForCausalLM")
        made.generation_config = GenerationConfig(use_cache=True, cache_implementation="static", max_length=24,
                                                  cache_config={"batch_size": 1, "max_cache_len": 24})
        module = TorchExportableModuleForDecoderOnlyLM(made, batch_size=1, max_cache_len=24, device=torch.device("cpu")).model

        def step(at, count):
            return (), {"input_ids": torch.randint(3, 99, (1, count)), "cache_position": torch.arange(at, at + count)}
        length = any_batch(23, "length")
        return Network(module, lambda batch, n: step(0, 1), {"sizes": {"input_ids": {1: length}, "cache_position": {0: length}}},
                       steps={"static": [step(0, 1), step(1, 1), step(2, 1)], "sizes": [step(0, 7), step(7, 1), step(8, 3)]}, scripts=False,
                       traces=False)
    return make


def sequences(kind, head="Model", **options):
    return lambda: text(Sequences(model(kind, options, head), use_cache=False),
                        kwargs=("input_ids", "attention_mask", "decoder_input_ids"))


def whisper():
    config = {"d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
              "encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "vocab_size": 99, "num_mel_bins": 20, "max_source_positions": 50,
              "max_target_positions": 20, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}

    class Heard(Whole):
        def forward(self, input_features, decoder_input_ids):
            return self.model(input_features=input_features, decoder_input_ids=decoder_input_ids, **self.options)

    batch = any_batch()
    return Network(Heard(model("Whisper", config, "ForConditionalGeneration"), use_cache=False),
                   lambda n, step: ((torch.randn(n, 20, 100), torch.randint(3, 99, (n, 5 + step))), {}),
                   {"batch": {"input_features": {0: batch}, "decoder_input_ids": {0: batch}},
                    "sizes": {"input_features": {0: ANY}, "decoder_input_ids": {0: ANY, 1: ANY}}}, scripts=False)


def clip():
    part = {**SMALL, "projection_dim": 16}
    config = {"text_config": {**part, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0},
              "vision_config": {**part, "image_size": 32, "patch_size": 8}, "projection_dim": 16}

    class Both(Whole):
        def forward(self, input_ids, pixel_values, attention_mask):
            return self.model(input_ids=input_ids, pixel_values=pixel_values, attention_mask=attention_mask, **self.options)

    batch, images_ = any_batch(), any_batch(name="images")
    return Network(Both(model("CLIP", config)), lambda n, step: ((
        torch.randint(3, 99, (n, 7 + step)), torch.randn(n + 1, 3, 32, 32), torch.ones(n, 7 + step, dtype=torch.int64)), {}),
        {"batch": {"input_ids": {0: batch}, "pixel_values": {0: images_}, "attention_mask": {0: batch}},
         "sizes": {"input_ids": {0: ANY, 1: ANY}, "pixel_values": {0: ANY}, "attention_mask": {0: ANY, 1: ANY}}},
        scripts=False)


def pixels(kind, head="Model", size=64, **options):
    return lambda: images(Pixels(model(kind, options, head)), size)


def speech(kind, **options):
    config = {**SMALL, "conv_dim": (16, 16, 16), "conv_kernel": (10, 3, 2), "conv_stride": (5, 2, 2), "num_feat_extract_layers": 3,
              "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 4, **options}
    return lambda: sound(Sound(model(kind, config)))


BART = {"d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
        "encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "vocab_size": 99, "max_position_embeddings": 64, "pad_token_id": 0, "bos_token_id": 1,
        "eos_token_id": 2, "decoder_start_token_id": 1, "forced_eos_token_id": None}
GPT2 = {"n_embd": 32, "n_layer": 2, "n_head": 4, "vocab_size": 99, "n_positions": 64, "bos_token_id": 1, "eos_token_id": 2}
T5 = {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4, "vocab_size": 99, "decoder_start_token_id": 0}
VIT = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48, "image_size": 64, "patch_size": 16}
TRANSFORMERS = {
    "bert": encoder("Bert", "ForSequenceClassification"),
    "distilbert": encoder("DistilBert", dim=32, n_layers=2, n_heads=4, hidden_dim=48),
    "roberta": encoder("Roberta", "ForTokenClassification", pad_token_id=1, max_position_embeddings=66),
    "albert": encoder("Albert", embedding_size=16),
    "electra": encoder("Electra", "ForQuestionAnswering", embedding_size=16),
    "deberta-v2": encoder("DebertaV2", relative_attention=True, pos_att_type=["p2c", "c2p"], position_buckets=8, norm_rel_ebd="layer_norm",
                          share_att_key=True, type_vocab_size=0),
    "mpnet": encoder("MPNet"),
    "modernbert": encoder("ModernBert", pad_token_id=0, global_attn_every_n_layers=2, local_attention=8),
    "gpt2": decoder("GPT2", GPT2, "LMHeadModel"),
    "llama": decoder("Llama", GROUPED),
    "qwen2": decoder("Qwen2", GROUPED),
    "gemma": decoder("Gemma", {**GROUPED, "head_dim": 8}),
    "phi": decoder("Phi", SMALL),
    "opt": decoder("OPT", {**SMALL, "ffn_dim": 48, "word_embed_proj_dim": 32}),
    "mamba": lambda: text(Whole1(model("Mamba", {"hidden_size": 32, "num_hidden_layers": 2, "vocab_size": 99, "state_size": 4}), use_cache=False),
                          kwargs=("input_ids",)),
    "llama-cached": cached("Llama", GROUPED),
    "qwen2-cached": cached("Qwen2", GROUPED),
    "gemma-cached": cached("Gemma", {**GROUPED, "head_dim": 8}),
    "phi-cached": cached("Phi", SMALL),
    "gpt2-cached": cached("GPT2", GPT2),
    "t5": sequences("T5", **T5),
    "bart": sequences("Bart", **BART),
    "marian": sequences("Marian", **BART),
    "whisper": whisper,
    "vit": pixels("ViT", "ForImageClassification", **VIT),
    "deit": pixels("DeiT", **VIT),
    "dinov2": pixels("Dinov2", **{**VIT, "patch_size": 14, "image_size": 56}, size=56),
    "swin": pixels("Swin", image_size=64, patch_size=4, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4),
    "segformer": pixels("Segformer", "ForSemanticSegmentation", depths=[1, 1, 1, 1], hidden_sizes=[8, 16, 24, 32], decoder_hidden_size=16),
    "mobilevit": pixels("MobileViT", hidden_sizes=[16, 24, 32], neck_hidden_sizes=[8, 8, 16, 16, 24, 24, 32], num_attention_heads=4),
    "clip": clip,
    "wav2vec2": speech("Wav2Vec2"),
    "hubert": speech("Hubert"),
    # models of further families
    "xlm-roberta": encoder("XLMRoberta", pad_token_id=1, max_position_embeddings=66),
    "camembert": encoder("Camembert", "ForMaskedLM", pad_token_id=1, max_position_embeddings=66),
    "convbert": encoder("ConvBert", embedding_size=16, conv_kernel_size=3),
    "squeezebert": encoder("SqueezeBert", embedding_size=32, q_groups=1, k_groups=1, v_groups=1, post_attention_groups=1, intermediate_groups=1,
                           output_groups=1),
    "roformer": encoder("RoFormer", embedding_size=16),
    "fnet": lambda: text(Whole1(model("FNet", {**SMALL, "tpu_short_seq_length": 11, "use_tpu_fourier_optimizations": False})), kwargs=("input_ids",)),
    "nystromformer": encoder("Nystromformer", num_landmarks=4, segment_means_seq_len=64),
    "mobilebert": encoder("MobileBert", embedding_size=16, true_hidden_size=16, intra_bottleneck_size=16, num_feedforward_networks=2),
    "megatron-bert": encoder("MegatronBert"),
    "gpt-neo": decoder("GPTNeo", {"hidden_size": 32, "num_layers": 2, "num_heads": 4, "vocab_size": 99, "attention_types": [[["global", "local"], 1]],
                                  "max_position_embeddings": 64, "window_size": 8, "intermediate_size": 48}),
    "gpt-neox": decoder("GPTNeoX", SMALL),
    "gptj": decoder("GPTJ", {**GPT2, "rotary_dim": 4}),
    "bloom": decoder("Bloom", {"hidden_size": 32, "n_layer": 2, "n_head": 4, "vocab_size": 99}),
    "falcon": decoder("Falcon", {**SMALL, "alibi": False, "new_decoder_architecture": True, "num_kv_heads": 2}),
    "mpt": decoder("Mpt", {"d_model": 32, "n_heads": 4, "n_layers": 2, "vocab_size": 99, "max_seq_len": 64}),
    "phi3": decoder("Phi3", GROUPED),
    "gemma2": decoder("Gemma2", {**GROUPED, "head_dim": 8, "sliding_window": 6}),
    "qwen3": decoder("Qwen3", {**GROUPED, "head_dim": 8}),
    "mistral": decoder("Mistral", {**GROUPED, "sliding_window": 6}),
    "olmo": decoder("Olmo", GROUPED),
    "cohere": decoder("Cohere", GROUPED),
    "stablelm": decoder("StableLm", GROUPED),
    "smollm3": decoder("SmolLM3", GROUPED),
    "granite": decoder("Granite", GROUPED),
    "mamba2": lambda: text(Whole1(model("Mamba2", {"hidden_size": 32, "num_hidden_layers": 1, "vocab_size": 99, "state_size": 4, "num_heads": 8, "head_dim": 8,
                                                   "n_groups": 1, "chunk_size": 8}), use_cache=False), kwargs=("input_ids",)),
    "rwkv": lambda: text(Whole1(model("Rwkv", {"hidden_size": 32, "num_hidden_layers": 1, "vocab_size": 99, "context_length": 32}), use_cache=False),
                         kwargs=("input_ids",)),
    "mixtral": decoder("Mixtral", {**GROUPED, "num_local_experts": 4, "num_experts_per_tok": 2}),
    "pegasus": sequences("Pegasus", **BART),
    "mt5": sequences("MT5", **T5),
    "led": sequences("LED", **{**{k: v for k, v in BART.items() if k != "max_position_embeddings"}, "attention_window": 8,
                               "max_encoder_position_embeddings": 64, "max_decoder_position_embeddings": 64}),
    "beit": pixels("Beit", **VIT),
    "convnextv2": pixels("ConvNextV2", depths=[1, 1], hidden_sizes=[16, 24], num_stages=2),
    "poolformer": pixels("PoolFormer", depths=[1, 1, 1, 1], hidden_sizes=[8, 16, 24, 32]),
    "pvt": pixels("Pvt", image_size=64, depths=[1, 1, 1, 1], hidden_sizes=[8, 16, 24, 32], num_attention_heads=[1, 2, 2, 4]),
    "levit": pixels("Levit", image_size=64, hidden_sizes=[16, 24, 32], num_attention_heads=[2, 2, 4], depths=[1, 1, 1], key_dim=[8, 8, 8]),
    "dpt": pixels("DPT", "ForDepthEstimation", **{**VIT, "num_hidden_layers": 4, "backbone_out_indices": [0, 1, 2, 3], "neck_hidden_sizes": [8, 16, 24, 32],
                                                 "fusion_hidden_size": 16, "is_hybrid": False}),
    "glpn": pixels("GLPN", "ForDepthEstimation", depths=[1, 1, 1, 1], hidden_sizes=[8, 16, 24, 32], decoder_hidden_size=16),
    "yolos": pixels("Yolos", "ForObjectDetection", **{**VIT, "image_size": [64, 64], "num_detection_tokens": 5}),
    "swinv2": pixels("Swinv2", image_size=64, patch_size=4, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4),
    "siglip-vision": pixels("SiglipVision", **VIT),
    "dinov2-registers": pixels("Dinov2WithRegisters", **VIT),
    "vit-mae": pixels("ViTMAE", **{**VIT, "mask_ratio": 0.0}),
    "focalnet": pixels("FocalNet", image_size=64, patch_size=4, embed_dim=16, depths=[1, 1], focal_levels=[2, 2], focal_windows=[3, 3]),
    "bit": pixels("Bit", embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], num_groups=4),
    "efficientnet": pixels("EfficientNet", image_size=64, width_coefficient=0.5, depth_coefficient=0.5, hidden_dim=640),
    "regnet": pixels("RegNet", embedding_size=8, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], groups_width=4),
    "mobilenet-v2": pixels("MobileNetV2", image_size=64, depth_multiplier=0.5),
    "data2vec-audio": speech("Data2VecAudio", conv_pos_kernel_size=3),
    "sew": speech("SEW", squeeze_factor=2),
    "unispeech": speech("UniSpeech", num_conv_pos_embeddings=16),
    "wavlm": speech("WavLM"),
}


class Whole1(Whole):
    def forward(self, input_ids):
        return self.model(input_ids=input_ids, **self.options)


# ---- torchaudio

def audio(kind, make, dynamic=None, **options):
    def build_one():
        import torchaudio
        return Network(getattr(torchaudio.models, kind)(**options), make, dynamic)
    return build_one


def waves(kind, **options):
    feature = [(16, 10, 5), (16, 3, 2), (16, 2, 2)]
    own = {} if kind == "wav2vec2_model" else {"encoder_num_buckets": 32, "encoder_max_distance": 20}
    return audio(kind, lambda batch, n: ((torch.randn(batch, 3000 + 700 * n),), {}), {
        "batch": {"waveforms": {0: any_batch()}}, "sizes": {"waveforms": {0: ANY, 1: ANY}}},
        extractor_mode="layer_norm" if "large" in options else "group_norm", extractor_conv_layer_config=feature, extractor_conv_bias=False,
        encoder_embed_dim=32, encoder_projection_dropout=0.0, encoder_pos_conv_kernel=16, encoder_pos_conv_groups=4, encoder_num_layers=2,
        encoder_num_heads=4, encoder_attention_dropout=0.0, encoder_ff_interm_features=48, encoder_ff_interm_dropout=0.0, encoder_dropout=0.0,
        encoder_layer_norm_first=False, encoder_layer_drop=0.0, aux_num_out=29, **own)


def lengths(batch, frames):
    return torch.tensor([frames - 3 * i for i in range(batch)])


AUDIO = {
    "wav2vec2": waves("wav2vec2_model"), "wavlm": waves("wavlm_model"),
    "conformer": audio("Conformer", lambda batch, n: ((torch.randn(batch, 40 + 9 * n, 16), lengths(batch, 40 + 9 * n)), {}), None, input_dim=16,
                       num_heads=2, ffn_dim=24, num_layers=2, depthwise_conv_kernel_size=7),
    "deepspeech": audio("DeepSpeech", lambda batch, n: ((torch.randn(batch, 1, 30 + 7 * n, 16),), {}), {
        "batch": {"x": {0: any_batch()}}, "sizes": {"x": {0: ANY, 2: ANY}}}, n_feature=16, n_hidden=24, n_class=9),
    "wav2letter": audio("Wav2Letter", lambda batch, n: ((torch.randn(batch, 1, 8000 + 1600 * n),), {}), {
        "batch": {"x": {0: any_batch()}}, "sizes": {"x": {0: ANY, 2: ANY}}}, num_classes=9),
    "conv-tasnet": audio("ConvTasNet", lambda batch, n: ((torch.randn(batch, 1, 2000 + 160 * n),), {}), {
        "batch": {"input": {0: any_batch()}}, "sizes": {"input": {0: ANY, 2: ANY}}}, enc_num_feats=32,
        msk_num_feats=16, msk_num_hidden_feats=24, msk_num_layers=3, msk_num_stacks=2),
    "emformer": audio("Emformer", lambda batch, n: ((torch.randn(batch, 20, 16), lengths(batch, 16)), {}), None, input_dim=16, num_heads=2,
                      ffn_dim=24, num_layers=2, segment_length=4, right_context_length=4),
    "hdemucs": audio("HDemucs", lambda batch, n: ((torch.randn(batch, 2, 44100),), {}), None, sources=["a", "b"], channels=8),
    "wavernn": audio("WaveRNN", lambda batch, n: ((torch.randn(batch, 1, 96), torch.randn(batch, 1, 16, 12)), {}), None, upsample_scales=[2, 2, 3],
                     n_classes=8, hop_length=12, n_res_block=2, n_rnn=16, n_fc=16, n_freq=16, n_hidden=8, n_output=8),
}


# ---- ultralytics

ULTRALYTICS = [f"{net}{task}" for net in ("yolov8n", "yolo11n") for task in ("", "-seg", "-pose", "-obb", "-cls")] + ["yolov5n", "yolov10n", "yolo12n"]


def ultralytics_network(name):
    from ultralytics import YOLO
    module = YOLO(f"{name}.yaml").model.eval().float()
    for parameter in module.parameters():
        parameter.requires_grad = False
    module = module.fuse(verbose=False) if hasattr(module, "fuse") else module
    for part in module.modules():
        if part.__class__.__name__ in ("Detect", "Segment", "Pose", "OBB", "v10Detect"):
            part.dynamic, part.export, part.format = True, True, "torchscript"
    size = 64 if name.endswith("-cls") else 160
    return image_network(module, 3, size, size, scripts=False)
