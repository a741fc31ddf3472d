"""Why Weft and jaxlib may disagree: who accepts, what jaxlib says, what Weft says, and the reason in words.

jaxlib runs XLA's reader without XLA's verifier; Weft's verdict is that of reader and verifier.
"""

THEY = "they accept"
WE = "we accept"

REASONS = [
    # What XLA leaves to its verifier, which jaxlib does not run on what it has read.
    (THEY, "", r"verify: .*HLO1(0[4-9]|1[0-9])", "XLA's verifier refuses it, its reader does not look (shapes, types, signatures)"),
    (THEY, "", r"parse: .*HLO007: .*a layout names", "XLA's verifier refuses it, its reader does not look (layout is no permutation)"),
    (THEY, "", r"parse: .*HLO014: .*roles of dimensions", "XLA's verifier refuses it, its reader does not look (a role of a convolution is missing, or `?`)"),
    # What XLA's reader passes over in silence, and a user would want to know.
    (THEY, "", r"parse: .*HLO029", "XLA forgets the parameters of a signature; one that contradicts its computation is a mistake"),
    (THEY, "", r"parse: .*HLO008", "the elements cannot be counted in 64 bits, which XLA sees later or never"),
    (THEY, "", r"parse: .*HLO005", "XLA wraps or cuts numbers of more than 64 bits"),
    (THEY, "", r"parse: .*HLO015", "XLA drops strings with unknown escapes"),
    (THEY, "", r"parse: .*HLO03[123]|parse: .*(in a literal|of a literal)", "XLA reads literals without looking at all of their braces and commas"),
    (THEY, "", r"parse: .*after an origin|parse: .*(an origin|name of an instruction, in quotes|where the value comes from)", "XLA stops looking at an origin after its first fault"),
    (THEY, "", r"parse: .*expected .*an extent of a tile", "XLA lets a tile end without its parenthesis"),
    (THEY, "", r"parse: .*statistics start with", "XLA takes the first statistic for the index of one, whatever its name"),
    (THEY, "", r"parse: .*HLO022: .*no instruction `[a-z-]+` in", "XLA passes over an opcode alone in place of an operand"),
    # What Weft does not have.
    (THEY, "", r"parse: .*buffers, `b\(…\)`", "not supported: buffers"),
    (THEY, "", r"parse: .*expected a shape", "not supported: instructions without a shape, which XLA infers"),
    # What Weft allows on purpose.
    (WE, r"instruction does not exist|cannot parse as an instruction name|is not defined", "", "instructions may stand in any order without cycles; Weft sorts them"),
    (WE, r"computation does not exist", "", "computations may stand in any order without cycles; Weft sorts them"),
    (WE, r"expects name|expects '=' in instruction|expects attribute name", "", "a name may stand right before `=`, where XLA reads an attribute, and a computation with a signature without a header"),
    # What needs types, which the verifier looks at.
    (WE, r"AsyncUpdate|AsyncStart|AsyncDone|[Aa]sync wrapped|layout constraint|expects \d+ operands|[Ii]ota minor_to_major", "", "a rule of types and operands that Weft's verifier does not have yet"),
    (WE, r"in a literal", "", "XLA refuses integers of more than 64 bits as values of floats"),
    (WE, r"unexpected attribute .original_value", "", "the name that `origin` had before"),
]
