"""Colours, markers and dashes of pictures."""

# Okabe and Ito's colours, told apart by everybody; with markers and dashes they survive black and white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":")

# What a request's time divides into, with its colours on light and dark ground: the same in all pictures.
# They were found by a search for the greatest of the least differences, for those with and without colour
# blindness; parts that one device has together differ the most.
PARTS = {
    "in the host": ("#868d97", "#6f7883"),
    "in the drive's queue": ("#4f5661", "#b8c0ca"),
    "at work": ("#0b5cad", "#6cb2f5"),
    "overhead": ("#eb00bf", "#f7c4ff"),
    "bus": ("#06460a", "#42ffbf"),
    "seek": ("#82413c", "#c9f475"),
    "head_switch": ("#00a767", "#23a62f"),
    "settle": ("#700f6a", "#0070cb"),
    "rotation": ("#00990e", "#22a6d1"),
    "transfer": ("#ff0200", "#ffaf83"),
    "wait": ("#6688ff", "#db55fa"),
    "positioning": ("#0e2ebc", "#f8a600"),
    "mapping": ("#008062", "#5fa582"),
    "channel": ("#251aff", "#dd5dbc"),
    "flash_read": ("#8c5b8e", "#ebeb0f"),
    "program": ("#8c00a7", "#c83a49"),
    "erase": ("#fc5a4b", "#c9c150"),
    "wake": ("#0089cf", "#ff0a17"),
}
