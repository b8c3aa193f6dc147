# SPDX-License-Identifier: Apache-2.0
"""Writes feature_libraries.npz: features of the tests' sound by other libraries, one window of 16.

    python -m tests.samples.record_features

Needs librosa 0.11, kaldi-native-fbank 1.23 and python_speech_features 0.6. Each key is the words that give the same.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.samples.test_front_end import EVERY, RATE, RECORDED, speech


def of_librosa(x: np.ndarray) -> dict[str, np.ndarray]:
    import librosa

    found = {}
    for window, hop, bands, mel, shape in (
        (512, 160, 40, "htk", "hann"),
        (512, 320, 64, "slaney", "hann"),
        (400, 160, 80, "slaney", "hann"),
        (480, 320, 40, "htk", "hamming"),
        (1024, 512, 32, "slaney", "blackman"),
        (600, 200, 20, "htk", "none"),
        (320, 160, 32, "slaney", "hamming"),
        (800, 400, 48, "htk", "blackman"),
    ):
        power = librosa.feature.melspectrogram(
            y=x, sr=RATE, n_fft=window, hop_length=hop, n_mels=bands, center=False, htk=mel == "htk", fmin=20,
            norm="slaney" if mel == "slaney" else None, window="boxcar" if shape == "none" else shape,
        )  # fmt: skip
        logs = np.log(power.T + 1e-6)
        words = f"window={window}:{shape},hop={hop},fft={window},bands={bands},mel={mel}"
        found[f"logmel({words})"] = logs
        found[f"mfcc({words},coefficients=13)"] = librosa.feature.mfcc(S=logs.T, n_mfcc=13).T
        found[f"mfcc({words},coefficients=13)"][:, 0] *= np.sqrt(2)
    power = np.abs(librosa.stft(x, n_fft=256, hop_length=128, center=False)) ** 2
    found["spectrogram(window=256,hop=128)"] = power.T
    found["spectrogram(window=256,hop=128,decibels=yes,floor=1e-3)"] = 10 * np.log10(power.T + 1e-3)
    return found


def of_kaldi(x: np.ndarray) -> dict[str, np.ndarray]:
    import kaldi_native_fbank as knf

    found = {}
    for bands in (23, 40, 64):
        options = knf.FbankOptions()
        options.frame_opts.dither = options.frame_opts.preemph_coeff = 0
        options.frame_opts.remove_dc_offset = False
        options.frame_opts.window_type = "rectangular"
        options.mel_opts.num_bins = bands
        bank = knf.OnlineFbank(options)
        bank.accept_waveform(RATE, x.tolist())
        bank.input_finished()
        rows = np.stack([bank.get_frame(k) for k in range(bank.num_frames_ready)])
        found[f"logmel(window=25ms:none,hop=10ms,bands={bands},mel=kaldi,floor=1e-12)"] = rows
    return found


def of_speech_features(x: np.ndarray) -> dict[str, np.ndarray]:
    import python_speech_features as psf

    from tests.samples.test_front_end import features

    words = "mfcc(window=32ms,hop=16ms,coefficients=13)"
    first = features(words, x).astype(np.float64)
    slopes = psf.delta(first, 2)
    found = {"preemphasis=0.97": psf.sigproc.preemphasis(x.astype(np.float64), 0.97)[:, None]}
    found[f"{words},delta=2"] = np.hstack([first, slopes])
    found[f"{words},delta=3:2"] = np.hstack([first, psf.delta(first, 3), psf.delta(psf.delta(first, 3), 3)])
    return found


def main() -> None:
    x = speech(RATE)
    found = {**of_librosa(x), **of_kaldi(x), **of_speech_features(x)}
    np.savez_compressed(
        Path(RECORDED), **{k: np.float32(v[:: EVERY if len(v) < RATE else 50]) for k, v in found.items()}
    )


if __name__ == "__main__":
    main()
