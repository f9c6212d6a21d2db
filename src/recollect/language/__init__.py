"""Language: the word lists, and the only tokenizer, stemmer and time parser. Everything above reads text through it.

`tables` loads the word lists from `data/`; `terms` stems and makes the words that are searched and compared; `when`
reads times (`calendar` has its arithmetic); `meaning` compares what two wordings say; `statements` tells statements
from questions, greetings and output.
"""
