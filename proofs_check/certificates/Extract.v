(** Writes checker.ml.  Natural numbers become OCaml's integers, of 63 bits, and functions on lists those of its
    library; the numbers of rows are a module that main.ml gives, Zarith's rationals. *)
Require Import List Arith Extraction ExtrOcamlBasic ExtrOcamlNatInt ExtrOcamlNativeString.
Require Import Lines.
Extract Inlined Constant Nat.max => "max".
Extract Inlined Constant Nat.min => "min".
Extract Inlined Constant negb => "not".
Extract Inlined Constant option_map => "Option.map".
Extract Inlined Constant length => "List.length".
Extract Inlined Constant app => "(@)".
Extract Inlined Constant map => "List.map".
Extract Inlined Constant flat_map => "List.concat_map".
Extract Inlined Constant existsb => "List.exists".
Extract Inlined Constant forallb => "List.for_all".
Extraction "checker.ml" Lines.Checker.
