# SPDX-License-Identifier: Apache-2.0
"""Features for training: files with a hash, and the refusal of features of other words."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import mcugen
from mcugen.cli import cli
from mcugen.errors import UsageError
from mcugen.formats import read, registry, write
from mcugen.ir.graph import Graph, Node, Tensor
from mcugen.ir.types import TensorType
from mcugen.ops.framing import Framing
from mcugen.ops.fully_connected import FullyConnected
from mcugen.ops.mul import Mul
from mcugen.ops.reshape import Reshape
from mcugen.quantize import quantize_model
from mcugen.samples import feature_files, identity, load, words
from mcugen.samples.preprocess import parse
from mcugen.verify.evaluation import scoring
from tests.samples.sample_files import graph
from tests.samples.test_front_end import features, speech
from tests.samples.test_sound_folders import encoded, wav

WORDS = "rate=16000,length=64ms,logmel(window=32ms,hop=16ms,bands=8)"
OTHER = WORDS.replace("bands=8", "bands=8,low=100")
NET = graph(("x", (1, 3, 8)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two classes of three sounds."""
    path = tmp_path_factory.mktemp("words")
    for label in ("no", "yes"):
        (path / label).mkdir()
        for k in range(3):
            sound = speech(1000 + k, 10 * k + len(label))
            (path / label / f"{k}.wav").write_bytes(wav(encoded(sound, 16), rate=16000))
    return path


@pytest.fixture(scope="module")
def file(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("features") / "train.npz"
    done = CliRunner().invoke(cli, ["features", str(folder), "--preprocess", WORDS, "-o", str(path), "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["classes"] == ["no", "yes"]
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A float network of the features and two classes."""
    rng = np.random.default_rng(1)
    tensors = {
        "x": Tensor("x", TensorType((1, 3, 8), "f32"), label="x"),
        "flat": Tensor("flat", TensorType((1, 24), "f32")),
        "w": Tensor("w", TensorType((2, 24), "f32"), rng.standard_normal((2, 24)).astype(np.float32)),
        "y": Tensor("y", TensorType((1, 2), "f32"), label="y"),
    }
    nodes = Node("f", Reshape((1, 24)), ("x",), ("flat",)), Node("n", FullyConnected(), ("flat", "w"), ("y",))
    net = Graph("net", tensors, nodes, ("x",), ("y",), format="tflite")
    path = tmp_path_factory.mktemp("model") / "net.tflite"
    path.write_bytes(write.write(net, "tflite"))
    return path


def test_a_file_has_what_the_firmware_computes(folder: Path, file: Path) -> None:
    again = feature_files.of(folder, WORDS)
    assert again.as_npz() == file.read_bytes()
    whole = np.rint(speech(1000, 2) * 32767) / 32768
    assert again.values.shape == (6, 3, 8) and again.labels is not None and again.labels.tolist() == [0, 1] * 3
    assert np.array_equal(again.values[0], features(WORDS, np.float32(whole)))
    assert feature_files.of(folder, WORDS, 2).values.shape[0] == 2
    with pytest.raises(UsageError, match="is no folder of samples"):
        feature_files.of(file, WORDS)


def test_features_of_other_words_are_refused_with_both_hashes(file: Path) -> None:
    assert load(file, NET, with_labels=True).labels is not None
    assert load(file, NET, preprocess=WORDS).sha256 == load(file, NET).sha256
    with pytest.raises(UsageError) as caught:
        load(file, NET, preprocess=OTHER)
    hashes = [identity.of(parse(text, words())).sha256[:16] for text in (WORDS, OTHER)]
    assert all(part in caught.value.explain() for part in (*hashes, "train.npz", "--preprocess"))


def test_the_hash_depends_on_words_rate_and_tables() -> None:
    def of(text: str, rate: float = 0) -> str:
        return identity.of(parse(text, words()), rate).sha256

    assert of(WORDS) == of(WORDS, 44100) == of(WORDS.replace(",", ", "))
    plain = "logmel(window=512,hop=256)"
    texts = (WORDS, OTHER, plain, plain + ",scale=2", "resize=8x8", "resize=8x8:box", "scale=2")
    assert len({of(text, 16000) for text in texts} | {of(plain, 8000)}) == len(texts) + 1


def test_the_hash_does_not_depend_on_attributes_with_their_defaults() -> None:
    """Otherwise features would be refused when an operator gets another attribute, though their bits stay."""
    assert identity.stated(Framing(400, 160)) == "Framing(window=400, hop=160)"
    assert identity.stated(Framing(400, 160, axis=1)) == "Framing(window=400, hop=160, axis=1)"
    assert identity.stated(Mul()) == "Mul()"


def test_a_quantized_network_keeps_the_hash(model: Path, file: Path, folder: Path, tmp_path: Path) -> None:
    done = quantize_model.quantize(model, file, quantize_model.QuantizeOptions())
    path = tmp_path / "int8.tflite"
    path.write_bytes(done.written("tflite"))
    imported = read.load(path, registry.load())
    assert imported.features == identity.of(parse(WORDS, words())).sha256
    with pytest.raises(UsageError, match="are not those of"):
        mcugen.compile(path, preprocess=OTHER)
    built = mcugen.compile(path, preprocess=WORDS)
    facts = json.loads(built.files["features.json"])
    assert (facts["sha256"], facts["rate"], facts["window"], facts["hop"]) == (imported.features, 16000, 512, 256)
    assert facts["input"] == {"shape": [1024], "type": "s16", "rate": 16000}
    assert facts["features"] == {"shape": [3, 8], "type": "f32"}
    plain = mcugen.compile(path)
    assert "features.json" not in plain.files
    assert scoring.evaluate(plain, file).samples == 6
    assert scoring.evaluate(plain, folder, preprocess=WORDS).samples == 6
    with pytest.raises(UsageError, match="are not those of"):
        scoring.evaluate(plain, folder, preprocess=OTHER)


def test_a_stream_takes_a_network_trained_with_the_same_words(model: Path, file: Path, tmp_path: Path) -> None:
    done = quantize_model.quantize(model, file, quantize_model.QuantizeOptions())
    path = tmp_path / "int8.tflite"
    path.write_bytes(done.written("tflite"))
    built = mcugen.compile(path, preprocess=WORDS, input_mode="samples")
    assert json.loads(built.files["features.json"])["sha256"] == identity.of(parse(WORDS, words())).sha256
    with pytest.raises(UsageError, match="are not those of"):
        mcugen.compile(path, preprocess=OTHER, input_mode="samples")


def test_facts_state_the_rate_of_the_windows(model: Path) -> None:
    text = WORDS.replace("rate=16000", "rate=32000,decimate=2")
    facts = json.loads(mcugen.compile(model, preprocess=text, raw="6144@96000").files["features.json"])
    assert (facts["rate"], facts["window"], facts["hop"], facts["points"]) == (16000, 512, 256, 512)
    assert facts["input"] == {"shape": [6144], "type": "s16", "rate": 96000}


def test_the_words_of_every_command_in_docs_and_help_are_known() -> None:
    root = Path(mcugen.__file__).parents[1]
    pages = [*(root / "docs").glob("*.md"), *(root / "mcugen/cli").glob("*.py"), root / "README.md"]
    texts = [text for page in pages for text in re.findall(r'--preprocess "([^"]+)"', page.read_text("utf-8"))]
    assert len(texts) >= 5
    for text in texts:
        assert parse(text, words()).steps, text


@pytest.mark.parametrize(
    "content", [b"[]", b"{}", b"{", b'{"words":1,"rate":2,"sha256":3}', b"[" * 60000, b"x" * 70000]
)
def test_damaged_identities_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.npz"
    np.savez(path, x=np.zeros((2, 3, 8), np.float32), **{identity.KEY: np.frombuffer(content, np.uint8)})
    with pytest.raises(UsageError, match="does not say what made the features"):
        load(path, NET)
