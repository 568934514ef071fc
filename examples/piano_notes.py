"""Notes of a piano recording
==========================

Which notes are played, and when? The spectrogram of a piano recording is factorized into five
spectra. The strongest peak of each gives its pitch; a sparse coder then keeps only the notes that
are needed at each moment.

Four spectra are notes. The fifth is the sound of the hammers, which is heard at the beginning of
notes only.
"""

import sys
import tempfile

import matplotlib.pyplot as plt
import numpy as np

import conicnmf as cn

NOTES = ["C", "C♯", "D", "D♯", "E", "F", "F♯", "G", "G♯", "A", "A♯", "B"]


def pitch(spectrum, frequencies):
    """Return the frequency of the strongest peak, between the bins, and the nearest note."""
    peak = int(np.clip(spectrum.argmax(), 1, len(spectrum) - 2))
    left, middle, right = np.log(spectrum[peak - 1 : peak + 2] + 1e-9 * spectrum[peak])
    shift = 0.5 * (left - right) / (left - 2 * middle + right)
    hertz = float(frequencies[peak] + shift * (frequencies[1] - frequencies[0]))
    key = round(69 + 12 * np.log2(hertz / 440))
    return hertz, f"{NOTES[key % 12]}{key // 12 - 1}"


def main(output):
    """Learn five spectra, code the recording in them, print the notes and save a picture."""
    try:
        piano = cn.datasets.load("piano")
    except cn.InputError as error:
        print(error)
        return
    frequency, time = piano.extra["freq_hz"], piano.extra["time_s"]
    low = frequency <= 2200
    V = piano.V / np.linalg.norm(piano.V, axis=0).max()
    W = cn.multistart(cn.factorize(V, 5), n_starts=5).best.W
    W /= np.linalg.norm(W, axis=0)
    H = cn.sparse_code(V, W, cn.coding.L0(0.02))
    sounding = (H > 0).mean(axis=1)  # the noise of the hammers is over at once

    shape = {"figsize": (5.2, 5.6), "layout": "constrained", "width_ratios": [1, 2]}
    figure, panels = plt.subplots(6, 2, sharex="col", **shape)
    panels[0, 0].set_axis_off()
    panels[0, 1].pcolormesh(time, frequency[low], np.sqrt(V[low]), cmap="Blues", rasterized=True)
    panels[0, 1].set(ylabel="Hz", title="recording")
    order = np.argsort(W.argmax(axis=0) + len(W) * (sounding == sounding.min()))
    for (spectrum, roll), j in zip(panels[1:], order, strict=True):
        hertz, note = pitch(W[:, j], frequency)
        name = "hammers" if sounding[j] == sounding.min() else f"{note}, {hertz:.0f} Hz"
        print(f"{name}: {sounding[j]:.0%} of the time")
        spectrum.fill_between(frequency[low], W[low, j], color="#3c79ad")
        spectrum.set(yticks=[])
        spectrum.text(0.97, 0.8, name, transform=spectrum.transAxes, ha="right", fontsize=9)
        roll.fill_between(time, H[j], color="#d55e00", step="mid")
        roll.set(yticks=[], ylim=(0, H.max()))
    for axes, unit in zip(panels[-1], ("Hz", "seconds"), strict=True):
        axes.set_xlabel(unit)
    figure.savefig(output, dpi=160)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/piano_notes.png")
