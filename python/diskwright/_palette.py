"""Colours, markers and dashes of pictures."""

# Okabe and Ito's colours, told apart by everybody; with markers and dashes they survive black and white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":")
