"""The stored data sets: file names, what is in the files, and on which terms they may be used."""

from __future__ import annotations

from conicnmf.datasets.ratings import RatingSet
from conicnmf.datasets.scenes import PatchSet, SpectralScene
from conicnmf.datasets.stored import ImageSet, MatrixSet, StoredSet, TextSet

DIGITS = ImageSet(
    name="digits",
    file="",
    size="64 × 1797",
    about="Handwritten digits of 8×8 pixels from the UCI repository, in the copy that scikit-learn "
    "ships.",
    pixels=(8, 8),
    white=16.0,
    labels="y",
)


_IMAGES: tuple[StoredSet, ...] = (
    ImageSet(
        name="usps",
        file="usps.npz",
        size="256 × 7291",
        about="USPS handwritten digits (Hull 1994), 16×16, ink = 1: the classic training half, "
        "and 2007 test digits in extra. For research use.",
        pixels=(16, 16),
        white=1.0,
        images="x_train",
        labels="y_train",
        more_images={"V_test": "x_test"},
        more_labels={"target_test": "y_test"},
    ),
    ImageSet(
        name="mnist",
        file="mnist.npz",
        size="784 × 60000",
        about="MNIST handwritten digits (LeCun, Cortes, Burges; CC BY-SA 3.0), 28×28, ink = 1: the "
        "training half in V, the 10000 test digits in extra.",
        pixels=(28, 28),
        images="x_train",
        labels="y_train",
        more_images={"V_test": "x_test"},
        more_labels={"target_test": "y_test"},
    ),
    ImageSet(
        name="cbcl_faces",
        file="cbcl_faces.npz",
        size="361 × 2429",
        about="CBCL Face Database #1, MIT Center For Biological and Computation Learning, 19×19: "
        "training faces in V, test faces and non-faces in extra. Free for research, with credit.",
        pixels=(19, 19),
        images="x_train",
        more_images={"V_test": "x_test", "V_nonface": "nonface_train"},
    ),
    ImageSet(
        name="olivetti",
        file="olivetti_64x64.npz",
        size="4096 × 400",
        about="Olivetti faces (AT&T Laboratories Cambridge), 64×64, ten of each of 40 subjects; "
        "glasses and facial_hair (0 none, 1 light, 2 clear) in extra where the file has them. "
        "Credit when used.",
        pixels=(64, 64),
        labels="subject",
        annotations=("glasses", "facial_hair"),
    ),
    ImageSet(
        name="yale",
        file="yale_32x32.npz",
        size="1024 × 165",
        about="Yale face database, cropped to 32×32, 15 subjects under 11 conditions; condition, "
        "glasses and facial_hair in extra. Free for research, not for commercial use.",
        pixels=(32, 32),
        labels="subject",
        annotations=("condition", "glasses", "facial_hair"),
        legends=("condition_names",),
    ),
    PatchSet(
        name="natural_images",
        file="olshausen_whitened.npz",
        size="196 × 30000",
        about="Random patches of ten whitened natural images (Olshausen and Field 1996). Signed "
        "unless on_off=True splits them into ON and OFF channels. No terms stated; cite the "
        "paper.",
    ),
)

_TEXTS: tuple[StoredSet, ...] = (
    TextSet(
        name="reuters21578",
        file="reuters21578.npz",
        size="18933 × 8293",
        about="Reuters-21578, ModApte split, documents of one topic, term counts; labels 1 to 65, "
        'extra["train"] marks the training documents. For research use.',
        holds=("label", "train_idx"),
    ),
    TextSet(
        name="reuters_395",
        file="reuters_395.npz",
        size="4258 × 395",
        about="395 Reuters news with titles and vocabulary, term counts, as shipped with the "
        "Python package lda (MPL 2.0).",
        holds=("vocabulary", "titles"),
    ),
    TextSet(
        name="newsgroups_w100",
        file="newsgroups_w100.npz",
        size="100 × 16242",
        about="20 Newsgroups: which of 100 words occur in each post (S. Roweis); label i has the "
        'name extra["label_names"][i - 1].',
        holds=("label", "label_names", "vocabulary"),
    ),
    TextSet(
        name="tdt2",
        file="tdt2.npz",
        size="36771 × 9394",
        about="NIST TDT2, the 30 largest topics, term counts; labels 1 to 30. The counts only: the "
        "texts are licensed by the LDC.",
        holds=("label",),
    ),
)

_OTHERS: tuple[StoredSet, ...] = (
    MatrixSet(
        name="all_aml",
        file="all_aml.npz",
        size="5000 × 38",
        about="Leukemia gene expression (Golub 1999), the 5000 genes selected by Brunet 2004; "
        'label i has the name extra["label_names"][i]. Public data of the Broad Institute.',
        values="x",
        labels="label",
        features="genes",
        samples="samples",
        others=("label_names",),
    ),
    MatrixSet(
        name="piano",
        file="piano_spectrogram.npz",
        size="513 × 676",
        about="Magnitude spectrogram of a 15.7 s piano recording (NMFLibrary, MIT license); extra "
        "has the frequency of each row and the time of each column.",
        values="magnitude",
        per_sample=("time_s",),
        others=("freq_hz",),
    ),
    SpectralScene(
        name="jasper_ridge",
        file="jasper_ridge.npz",
        size="198 × 10000",
        about="Jasper Ridge, an AVIRIS hyperspectral scene (NASA/JPL) of 100×100 pixels as "
        "reflectance; truth has the usual abundances of tree, water, soil and road (F. Zhu, "
        "research use).",
        full=5000.0,
    ),
    RatingSet(
        name="movielens",
        file="movielens.npz",
        size="about 9700 × 610",
        about="Ratings of movies from 0.5 to 5 stars by users of MovieLens (GroupLens, University of "
        "Minnesota; Harper and Konstan 2015), the small set for development, as of the day of the "
        "download. Entries that are not stored are unknown. For research, not for commercial use.",
    ),
)

STORED: dict[str, StoredSet] = {entry.name: entry for entry in (*_IMAGES, *_TEXTS, *_OTHERS)}
