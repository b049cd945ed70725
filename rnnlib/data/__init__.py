"""Four small real data sets that come with the package: nothing is downloaded.

Where each comes from, what was done to it and its licence stand in ``README.md`` beside the files.

>>> lexicon = pronunciations()
>>> word = lexicon.splits.train
>>> "".join(lexicon.letters[i] for i in word.letters[1]), " ".join(lexicon.phones[i] for i in word.phones[1])
('aback', 'AH B AE K      ')
"""

from .images import Images, digits
from .lexicon import Lexicon, Words, pronunciations
from .speech import Utterances, japanese_vowels
from .splits import Splits
from .text import Text, shakespeare

__all__ = [
    "Images",
    "Lexicon",
    "Splits",
    "Text",
    "Utterances",
    "Words",
    "digits",
    "japanese_vowels",
    "pronunciations",
    "shakespeare",
]
