"""Why Weft and jaxlib may disagree: who accepts, what jaxlib says, what Weft says, and the reason in words.

jaxlib runs XLA's reader without XLA's verifier; Weft's verdict is that of reader and verifier.
"""

THEY = "they accept"
WE = "we accept"

REASONS = [
    # What XLA leaves to its verifier, which jaxlib does not run on what it has read.
    (THEY, "", r"verify: .*HLO1(0[4-9]|1[0-9]|21|24)", "XLA's verifier refuses it, its reader does not look (shapes, types, signatures, aliases, counts)"),
    (THEY, "", r"parse: .*HLO007: .*a layout names", "XLA's verifier refuses it, its reader does not look (layout is no permutation)"),
    (THEY, "", r"parse: .*HLO014: .*roles of dimensions", "XLA's verifier refuses it, its reader does not look (a role of a convolution is missing, or `?`)"),
    # What XLA's reader passes over in silence, and a user would want to know.
    (THEY, "", r"parse: .*HLO029", "XLA forgets the parameters of a signature; one that contradicts its computation is a mistake"),
    (THEY, "", r"parse: .*HLO008", "the elements cannot be counted in 64 bits, which XLA sees later or never"),
    (THEY, "", r"parse: .*HLO005", "XLA wraps or cuts numbers of more than 64 bits"),
    (THEY, "", r"parse: .*HLO015", "XLA drops strings with unknown escapes"),
    (THEY, "", r"parse: .*HLO03[123]|parse: .*(in a literal|of a literal)", "XLA reads literals without looking at all of their braces and commas"),
    (THEY, "", r"parse: .*after an origin|parse: .*(an origin|name of an instruction, in quotes|where the value comes from)", "XLA stops looking at an origin after its first fault"),
    (THEY, "", r"parse: .*expected `\{\"name\"\}` or `\(`", "XLA stops looking at an origin after its first fault"),
    (THEY, "", r"parse: .*expected a number as a tolerance", "XLA takes a tolerance without its number"),
    (THEY, "", r"parse: .*HLO040: .*elements that are not written", "Weft bounds the elements of literals that the text does not write"),
    (THEY, "", r"parse: .*expected .*an extent of a tile", "XLA lets a tile end without its parenthesis"),
    (THEY, "", r"parse: .*statistics start with", "XLA takes the first statistic for the index of one, whatever its name"),
    (THEY, "", r"parse: .*HLO001: .*expected the name of an operand, found `[,)]`", "XLA passes over a shape alone in place of an operand"),
    (THEY, "", r"parse: .*HLO022: .*no instruction `[a-z-]+` in", "XLA passes over an opcode alone in place of an operand"),
    (THEY, "", r"parse: .*HLO033: .*shape b\(", "XLA reads a constant of a buffer as one of the array"),
    (THEY, "", r"parse: .*HLO016: .*a name in quotes after the number, found `\d", "XLA passes over the number of a name that has none"),
    (THEY, "", r"parse: .*`T` has each dimension", "XLA takes an order of devices for one that is no permutation"),
    (THEY, "", r"parse: .*a number of bits is at least 0", "XLA takes a negative number of bits of an element"),
    (THEY, "", r"parse: .*HLO014: .*attribute `dimensions` names one dimension", "XLA passes over all but the first of the dimensions"),
    # Where XLA's reader finds shapes that its verifier refuses, or that need more than extents.
    (THEY, "", r"parse: .*HLO007: .*does not follow: extents of the operands", "extents that are open flow through shape functions at run time only; the shape has to be written"),
    (THEY, "", r"parse: .*HLO007: .*does not follow", "XLA's verifier refuses it, its inference of shapes does not look (implicit broadcasting, mixed types)"),
    (THEY, "", r"parse: .*HLO007: .*`(broadcast|scan|scaled-dot)` needs a shape", "XLA takes another shape for it than its verifier, or depends on what is not in the text"),
    # What needs types, which the verifier looks at.
    (WE, r"layout constraint|expects \d+ operands|[Ii]ota minor_to_major", "", "a rule of types and operands that Weft's verifier does not have yet"),
    (WE, r"unexpected attribute .original_value", "", "the name that `origin` had before"),
]
